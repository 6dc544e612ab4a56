import Yams

/// Parses a file's text, and tells what is wrong with it as YAML.
enum YAMLText {
    /// - Returns: the root, a mapping; `nil` if there is none, which has been reported.
    static func parse(_ text: String, file: String, findings: ComposeFindings) -> Node? {
        func report(_ message: String, line: Int = 1, hint: String? = nil) {
            findings.report(message, at: ComposePlace(file: file, line: line), hint: hint)
        }
        findings.begin(file)
        do {
            guard let root = try Yams.compose(yaml: text) else {
                report("the file is empty", hint: "list the processes to run under 'services'")
                return nil
            }
            if root.mapping != nil { return root }
            report("the file is not a mapping", line: root.mark?.line ?? 1, hint: "write 'key: value' lines")
        } catch let error as YamlError {
            switch error {
            case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
                .composer(_, let problem, let mark, _):
                report("not YAML: \(problem)", line: mark.line, hint: "look at the indentation and quotes there")
            case .duplicatedKeysInMapping(let duplicates, let context):
                let keys = duplicates.sorted().map { "'\($0)'" }.joined(separator: ", ")
                report("\(keys) stands twice in the mapping that begins here", line: context.mark.line)
            default:
                report("not YAML: \(error)")
            }
        } catch {
            report("not YAML: \(error)")
        }
        return nil
    }
}
