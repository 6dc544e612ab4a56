internal import Support
package import Yams

/// Parses the text of YAML files.
package enum YAMLText {
    /// The root of a file. Nil if the file is empty.
    package static func root(of text: String) throws(YAMLMistake) -> Node? {
        if let line = YAMLAliases.lineOfKey(in: text) {
            throw YAMLMistake(problem: YAMLAliases.problem, remedy: YAMLAliases.remedy, line: line)
        }
        do {
            return try Yams.compose(yaml: text)
        } catch {
            throw YAMLMistake(error)
        }
    }
}

/// The reason why a text is not YAML.
package struct YAMLMistake: Error, Hashable, Sendable, CustomStringConvertible {
    package let problem: String
    package let remedy: String
    /// Counted from 1.
    package let line: Int
    /// Counted from 1.
    package let column: Int

    fileprivate init(problem: String, remedy: String, line: Int = 1, column: Int = 1) {
        (self.problem, self.remedy, self.line, self.column) = (problem, remedy, line, column)
    }

    /// - Parameter error: an error of the parser.
    fileprivate init(_ error: any Error) {
        let advice = "check its indentation, quotes and brackets"
        switch error {
        case YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _),
            YamlError.composer(_, let problem, let mark, _):
            self.init(problem: "malformed YAML: \(problem)", remedy: advice, line: mark.line, column: mark.column)
        case YamlError.duplicatedKeysInMapping(let duplicates, let context):
            let keys = duplicates.sorted().map { "'\($0)'" }.joined(separator: ", ")
            self.init(
                problem: "duplicate key \(keys) in the mapping that begins here", remedy: "remove one of them",
                line: context.mark.line, column: context.mark.column)
        case YamlError.reader(let problem, let offset, _, let yaml):
            // The offset is a number of characters.
            let lines = "\(yaml.prefix(offset ?? 0))|".lines
            self.init(
                problem: "malformed YAML: \(problem)", remedy: "remove the character",
                line: lines.count, column: lines.last?.count ?? 1)
        default:
            self.init(problem: "malformed YAML", remedy: advice)
        }
    }

    /// The problem and the remedy, on one line.
    package var description: String { "\(problem); \(remedy)" }
}
