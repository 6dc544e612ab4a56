import Foundation
import Yams

extension Catalogue {
    /// Reads a catalogue file, in YAML.
    ///
    /// - Parameter path: Relative to the working directory, or absolute.
    /// - Throws: `CatalogueError`, which names the file and the line.
    package init(contentsOf path: String) throws {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            let exists = FileManager.default.fileExists(atPath: path)
            throw CatalogueError.unreadable(
                file: path,
                reason: exists ? "it is not a readable UTF-8 file" : "there is no such file"
            )
        }
        try self.init(yaml: text, file: path)
    }

    /// Reads a catalogue from text.
    ///
    /// - Parameters:
    ///   - yaml: The text.
    ///   - file: What errors call the text.
    /// - Throws: `CatalogueError`, which names the file and the line.
    init(yaml: String, file: String) throws {
        let root: Node?
        do {
            root = try Yams.compose(yaml: yaml)
        } catch let error as YamlError {
            throw CatalogueError(error, file: file)
        }
        guard let root else {
            throw CatalogueError.malformed(file: file, line: nil, problem: "the catalogue is empty")
        }
        self = try CatalogueReader(file: file).catalogue(root)
    }
}

extension CatalogueError {
    /// Keeps the line and the problem of a syntax error; leaves out the excerpt, which spans several lines.
    fileprivate init(_ error: YamlError, file: String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self = .malformed(file: file, line: mark.line, problem: problem)
        case .duplicatedKeysInMapping(let keys, let context):
            let names = keys.map { "'\($0)'" }.joined(separator: ", ")
            self = .malformed(file: file, line: context.mark.line, problem: "\(names) is given twice")
        default:
            self = .malformed(file: file, line: nil, problem: "this is not YAML")
        }
    }
}
