/// Changes of files that a person has written: text goes in, and all around it stays as it is, comments too.
extension String {
    /// - Returns: the text with lines behind the first match; `nil` when nothing matches.
    func inserting(_ lines: String, behind place: some RegexComponent) -> String? {
        guard let match = firstMatch(of: place) else { return nil }
        return self[..<match.range.upperBound] + lines + "\n" + self[match.range.upperBound...]
    }

    /// Adds lines to the end of a block of YAML that begins with `key:` in the first column.
    ///
    /// - Returns: `nil` when there is no such block, or when it is written in braces.
    func appending(_ addition: String, toBlock key: String) -> String? {
        var lines = split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.wholeMatch(of: #/([a-zA-Z]+):\s*(#.*)?/#)?.1 == key[...] })
        else {
            return nil
        }
        let end = lines[(start + 1)...].firstIndex { !$0.isEmpty && !" \t#-".contains($0.prefix(1)) } ?? lines.endIndex
        // Blank lines and comments before the next key are about that.
        let last = lines[start..<end].lastIndex { !$0.allSatisfy(\.isWhitespace) && !$0.hasPrefix("#") } ?? start
        lines.insert(contentsOf: addition.split(separator: "\n"), at: last + 1)
        return lines.joined(separator: "\n")
    }

    /// Adds a command to the `sends` of a screen of a flow, if it lists them on one line.
    func adding(_ command: String, toSendsOf screen: String) -> String {
        var lines = split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("  \(screen):") }) else { return self }
        let end = lines[(start + 1)...].firstIndex { !$0.hasPrefix("    ") } ?? lines.endIndex
        let list = #/sends: \[(.*?)\]/#
        if let index = lines[start..<end].firstIndex(where: { $0.contains(list) }) {
            guard !lines[index].contains(command) else { return self }
            lines[index] = lines[index].replacing(list) { "sends: [\($0.1.isEmpty ? "" : "\($0.1), ")\(command)]" }
        } else if lines[start].wholeMatch(of: #/\s*\w+:\s*(#.*)?/#) != nil,
            !lines[start..<end].contains(where: { $0.contains("sends:") })
        {
            lines.insert("    sends: [\(command)]", at: end)
        }
        return lines.joined(separator: "\n")
    }
}
