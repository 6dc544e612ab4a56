internal import AppContract
internal import Foundation
internal import Monitor
internal import Navigation

/// A contract in a file.
enum ContractFile {
    /// Where a project keeps the one that its changes are held to.
    static let standard = "config/contract.json"

    /// - Throws: ``CommandError`` when the file cannot be read, or is no contract.
    static func read(_ path: String) throws -> AppContract {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandError(
                code: "unreadable-file", "there is no file \(path), or it cannot be read",
                recovery: "write one with 'segue contract export -o \(path)'", status: .noInput)
        }
        do {
            return try AppContract(parsing: data)
        } catch {
            throw CommandError(
                code: "no-contract", "\(path) is no contract: \(error)".printable,
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
