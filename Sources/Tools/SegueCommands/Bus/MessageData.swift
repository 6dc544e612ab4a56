internal import ArgumentParser
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation

/// The data of a message, as it is written on a command line.
enum MessageData {
    static let help = ArgumentHelp("Its data, a JSON object; - reads it from standard input.", valueName: "json")

    /// The data, on one line; standard input is read to its end for `-`.
    /// - Throws: `ValidationError` when it is no JSON object.
    static func read(_ text: String) throws -> Data {
        guard text == "-" else { return try object(text) }
        return try object(StandardInput.text())
    }

    /// - Throws: `ValidationError` when it is no JSON object, as far as it is not yet to be read.
    static func validate(_ text: String) throws {
        if text != "-" { _ = try object(text) }
    }

    /// - Throws: `ValidationError` when it is no JSON object.
    static func object(_ text: String) throws -> Data {
        do {
            guard try JSONValue(parsing: Data(text.utf8)).objectValue != nil, let json = JSONText(Data(text.utf8))
            else {
                throw ValidationError("the data is not a JSON object; write it like '{\"playlistID\": \"p1\"}'")
            }
            return Data(json.description.utf8)
        } catch let error as DecodingError {
            throw ValidationError("the data is not JSON: \(error.summary)")
        }
    }
}
