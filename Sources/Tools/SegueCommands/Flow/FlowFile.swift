internal import ArgumentParser
internal import FlowFiles
internal import Foundation
internal import Navigation

/// A file that says something of a flow.
struct FlowFile {
    static let help = ArgumentHelp("The flow, YAML or JSON; - reads it from standard input.", valueName: "file")

    /// As findings call it.
    let name: String
    let text: String

    /// Reads a file, or for `-` standard input to its end.
    /// - Throws: ``CommandError`` when that cannot be done.
    init(_ path: String) throws {
        guard path != "-" else {
            (name, text) = ("standard input", try StandardInput.text())
            return
        }
        name = path
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            let isThere = FileManager.default.fileExists(atPath: path)
            throw CommandError(
                code: "unreadable-file", isThere ? "\(path) cannot be read as UTF-8" : "there is no file \(path)",
                recovery: "name one such as config/flows/ios.yaml", status: .noInput)
        }
    }

    /// - Throws: `FlowError` with all that is wrong.
    func flow() throws -> Flow { try Flow(yaml: text, file: name) }
}
