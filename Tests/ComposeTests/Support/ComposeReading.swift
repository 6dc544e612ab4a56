import Foundation

@testable import Compose

/// Reads a text as a compose file in the folder `/stack`.
func readCompose(_ text: String, environment: [String: String] = [:]) throws -> ComposeFile {
    try ComposeFile(text: text, path: "c.yaml", directory: "/stack", environment: environment)
}

/// The mistakes that reading finds, in the form that users see.
func mistakes(_ read: () throws -> ComposeFile) -> [String] {
    do {
        _ = try read()
        return []
    } catch let error as ComposeFileError {
        return error.mistakes.map(\.description)
    } catch {
        return ["\(error)"]
    }
}

/// The mistakes in the keys of one service.
func mistakes(inService text: String) -> [String] {
    mistakes { try readCompose("services:\n  a:\n    command: x\n" + text.indented(by: 4)) }
}

extension String {
    func indented(by count: Int) -> String {
        split(separator: "\n", omittingEmptySubsequences: false)
            .map { String(repeating: " ", count: count) + $0 }.joined(separator: "\n")
    }
}

extension Scratch {
    /// Writes files, and creates missing folders.
    ///
    /// - Returns: the paths of the files with the given names, in the order of the names.
    @discardableResult
    func write(_ files: [String: String], reading names: String...) throws -> [String] {
        for (name, text) in files {
            let folder = URL(fileURLWithPath: "\(path)/\(name)").deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            _ = try write(text, to: name)
        }
        return names.map { "\(path)/\($0)" }
    }

    /// Writes files, one of which must be `c.yaml`, and reads `c.yaml` as a compose file.
    func readCompose(_ files: [String: String], environment: [String: String] = [:]) throws -> ComposeFile {
        try ComposeFile(paths: write(files, reading: "c.yaml"), environment: environment)
    }
}
