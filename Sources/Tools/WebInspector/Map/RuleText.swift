internal import Support

/// The text of a rule in a flow file.
enum RuleText {
    /// The maximum number of lines, and the maximum length of a line in Unicode scalars.
    private static let (lineLimit, lengthLimit) = (60, 200)

    /// The lines of the rule that begins at a line.
    /// - Parameter number: The number of the line, from 1.
    /// - Returns: An empty array if there is no such line.
    static func lines(at number: Int, in source: String) -> [String] {
        let all = source.lines
        guard number >= 1, number <= all.count else { return [] }
        let indent = all[number - 1].indent
        var rule = [all[number - 1]]
        for line in all[number...].prefix(lineLimit) {
            guard line.isBlank || line.isComment || line.indent > indent else { break }
            rule.append(line)
        }
        while rule.count > 1, let last = rule.last, last.isBlank || last.isComment { rule.removeLast() }
        return rule.prefix(lineLimit).map { String($0).shown(to: lengthLimit) }
    }
}

extension Substring {
    /// The number of spaces at the beginning.
    fileprivate var indent: Int { utf8.prefix { $0 == UInt8(ascii: " ") }.count }

    fileprivate var isComment: Bool { trimmed.utf8.first == UInt8(ascii: "#") }
}
