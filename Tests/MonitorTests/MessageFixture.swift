import EventBus
import Foundation
import Monitor
import TestSupport
import Testing

extension Envelope {
    /// A message published on 1 March 2026 at 12:34:56.789 UTC.
    static func fixed(
        _ type: String, _ data: String = "{}", source: String = "device/1",
        _ change: (inout Attributes) -> Void = { _ in }
    ) throws -> Envelope {
        guard let type = MessageType(type) else { throw BusError(.malformed, "'\(type)' is no type") }
        var attributes = Attributes(
            type: type, source: source, id: "m1", time: Date(timeIntervalSince1970: 1_772_368_496.789))
        // A message has a random trace; without it the message is the same in each run.
        attributes.traceparent = nil
        change(&attributes)
        return Envelope(attributes: attributes, data: Data(data.utf8), position: Position(epoch: 0xAB, offset: 17))
    }
}

/// A recording in a temporary file.
struct RecordingFile {
    let recording: Recording

    static func with<Result>(_ text: String, _ body: (Recording) async throws -> Result) async throws -> Result {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let path = scratch.path("recording.jsonl")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return try await body(Recording(path: path))
    }

    /// The text that `segue record` writes.
    static func text(
        _ messages: [Envelope], since: MonitorStart = .beginning, missing: [String: UInt64] = [:]
    ) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let header = String(
            decoding: try encoder.encode(RecordingHeader(since: since, MessageSelection())), as: UTF8.self)
        let last = RecordingEnd(messages: messages.count, missing: missing)
        let end = String(decoding: try encoder.encode(last), as: UTF8.self)
        return try ([header] + messages.map(CloudEventFormat.line) + [end]).map { "\($0)\n" }.joined()
    }
}

extension Envelope {
    /// The message at an offset of a journal, published `seconds` after the first message.
    static func recorded(
        _ id: String, _ type: String, at offset: UInt64, data: String = "{}", source: String = "device/1",
        causedBy cause: String? = nil, in story: String? = nil, after seconds: Double = 0,
        _ change: (inout Attributes) -> Void = { _ in }
    ) throws -> Envelope {
        var message = try fixed(type, data, source: source) { attributes in
            attributes.id = id
            attributes.correlationID = story ?? id
            attributes.causationID = cause
            attributes.time += seconds
            change(&attributes)
        }
        message.position = Position(epoch: 0xAB, offset: offset)
        return message
    }
}

extension EventBus {
    /// The offset of the message with this id.
    func offset(of id: String) async throws -> UInt64 {
        let end = try await inspect.end()
        let message = try await withSubscription(to: [.all], from: .beginning, until: end, onNotice: nil) { messages in
            for try await message in messages where message.id == id { return message as Envelope? }
            return nil
        }
        return try #require(message?.position).offset
    }
}
