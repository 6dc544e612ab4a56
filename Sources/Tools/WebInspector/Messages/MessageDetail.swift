internal import EventBus
internal import Foundation
internal import Monitor
internal import Support
internal import WebPage

/// One message with its attributes and its data, as JSON.
struct MessageDetail {
    /// The number of bytes after which data is cut, unless all of it is asked for.
    static let dataLimit = 256 << 10

    let message: Envelope
    /// The version of the document before. Nil if there is none.
    let before: Envelope?
    /// True to include all data.
    let isFull: Bool

    /// - Throws: `EncodingError`.
    func json() throws -> [UInt8] {
        var text = ObjectText()
        text.add("row", MessageRow(message).json)
        text.add("attributes", try attributes)
        let isCut = !isFull && message.data.count > Self.dataLimit
        let data = isCut ? nil : JSONText(message.data)
        text.add("data", data?.utf8 ?? Self.null)
        // A browser would round the numbers of `data`: what is published again is this text.
        text.add("json", data.map { .string($0.description) } ?? .null)
        let readable = data == nil && !message.data.isEmpty
        let prefix = isCut ? message.data.prefix(Self.dataLimit) : message.data
        text.add("text", readable ? .string(String(decoding: prefix, as: UTF8.self)) : .null)
        text.add("cut", .bool(isCut))
        let earlier = before.flatMap { $0.data.count > Self.dataLimit && !isFull ? nil : JSONText($0.data) }
        text.add("before", earlier?.utf8 ?? Self.null)
        text.add("command", .string(command(data)))
        return text.closed
    }

    private static let null = Array("null".utf8)

    /// The attributes by their names in CloudEvents.
    private var attributes: JSONValue {
        get throws {
            var bare = message
            bare.data = Data()
            bare.position = nil
            return try JSONValue(parsing: Data(try CloudEventFormat.line(bare).utf8))
        }
    }

    /// The command line that publishes the message again.
    private func command(_ data: JSONText?) -> String {
        // JSON has escapes of its own, which every shell leaves alone.
        let json = data.map { "\(TerminalText($0.description))" } ?? "{}"
        var words = ["segue", "send", message.type.description, json]
        let attributes = message.attributes
        let options: [(String, String?)] = [
            ("--session", attributes.subject == Session.default ? nil : attributes.subject),
            ("--platform", attributes.platform), ("--device", attributes.device), ("--instance", attributes.instance),
            ("--key", attributes.key),
        ]
        for (name, value) in options { if let value { words += [name, value] } }
        return words.map(Escape.shellWord).joined(separator: " ")
    }
}
