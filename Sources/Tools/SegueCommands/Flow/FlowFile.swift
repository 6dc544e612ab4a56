internal import ArgumentParser
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
        do {
            if path == "-" {
                name = "standard input"
                text = String(decoding: try FileHandle.standardInput.readToEnd() ?? Data(), as: UTF8.self)
            } else {
                name = path
                text = try String(contentsOfFile: path, encoding: .utf8)
            }
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
