internal import Foundation
internal import Monitor
internal import Navigation

/// Writes the data of one message to standard output.
struct DataPrinter {
    /// As it was published, on one line; for a person, it is indented.
    let json: Bool

    func show(_ data: Data) async throws {
        try await Console.output.writeLine(text(data))
    }

    func text(_ data: Data) throws -> String {
        // Any program may publish; what is not JSON is not ours to judge.
        let raw = String(decoding: data, as: UTF8.self)
        return json ? JSONText(data)?.description ?? raw : try indented(data) ?? raw.printable
    }

    private func indented(_ data: Data) throws -> String? {
        guard let value = try? JSONValue(parsing: data) else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
