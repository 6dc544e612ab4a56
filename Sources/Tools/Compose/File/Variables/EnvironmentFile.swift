/// A file of `KEY=value` lines, as the compose specification describes it under `env_file`.
struct EnvironmentFile {
    enum Format {
        case standard
        /// Values are as they stand, with quotes and dollar signs.
        case raw
    }

    let name: String
    let findings: ComposeFindings

    /// - Parameters:
    ///   - environment: what values refer to, and where a key without a value has it from.
    ///   - earlier: the variables of files before this one, which values may refer to as well.
    /// - Returns: `nil` for a variable that is named, and set nowhere.
    func variables(
        in text: String, format: Format = .standard, environment: ComposeEnvironment, earlier: [String: String] = [:]
    ) -> [String: String?] {
        let text = text.replacing("\r\n", with: "\n").replacing("\u{FEFF}", with: "")
        var scope = environment.adding(earlier, from: name)
        var variables: [String: String?] = [:]
        for entry in format == .raw ? rawEntries(text) : entries(text) {
            let value = value(of: entry, environment: scope)
            variables[entry.name] = .some(value)
            // What the outside says wins.
            if environment[entry.name] == nil { scope.set(entry.name, to: value, from: name) }
        }
        return variables
    }

    private func value(of entry: EnvironmentFileScanner.Entry, environment: ComposeEnvironment) -> String? {
        switch entry.value {
        case nil: return environment[entry.name]
        case .literal(let text): return text
        case .template(let text):
            findings.note(variablesIn: text, of: environment)
            var interpolation = Interpolation(environment: environment)
            do {
                let value = try interpolation.expand(text)
                findings.note(unset: interpolation.unset)
                return value
            } catch {
                report("'\(entry.name)': \(error.message)", line: entry.line, hint: "single quotes keep dollar signs")
                return nil
            }
        }
    }

    private func entries(_ text: String) -> [EnvironmentFileScanner.Entry] {
        var scanner = EnvironmentFileScanner(text)
        var entries: [EnvironmentFileScanner.Entry] = []
        while let result = scanner.next() {
            switch result {
            case .success(let entry): entries.append(entry)
            case .failure(let mistake): report(mistake.message, line: mistake.line, hint: "write lines as KEY=value")
            }
        }
        return entries
    }

    private func rawEntries(_ text: String) -> [EnvironmentFileScanner.Entry] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            guard !line.isEmpty, !line.hasPrefix("#") else { return nil }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? EnvironmentFileScanner.Value.literal(String(parts[1])) : nil
            return .init(name: String(parts[0]), value: value, line: index + 1)
        }
    }

    private func report(_ message: String, line: Int, hint: String) {
        findings.report(message, at: ComposePlace(file: name, line: line), hint: hint)
    }
}
