internal import AppContract
internal import Foundation
internal import Monitor
internal import Navigation

/// A contract in a file.
enum ContractFile {
    /// Where a project keeps the one that its changes are held to.
    static let standard = "config/contract.json"

    /// Reads a file, or for `-` standard input to its end.
    /// - Throws: ``CommandError`` when that cannot be done, or is no contract.
    static func read(_ path: String) throws -> AppContract {
        if path == "-" { return try parse(Data(StandardInput.text().utf8), called: "standard input") }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandError(
                code: "unreadable-file", "there is no file \(path), or it cannot be read",
                recovery: "write one with 'segue contract export -o \(path)'", status: .noInput)
        }
        return try parse(data, called: path)
    }

    private static func parse(_ data: Data, called name: String) throws(CommandError) -> AppContract {
        do {
            return try AppContract(parsing: data)
        } catch {
            throw CommandError(
                code: "no-contract", "\(name) is no contract: \(error)".printable,
                recovery: "write one with 'segue contract export -o FILE'", status: .dataError)
        }
    }

    /// As it is written: indented, with sorted keys, so that a change of it can be read line by line.
    static func text(of contract: AppContract) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(contract.asyncAPI), as: UTF8.self) + "\n"
    }
}
