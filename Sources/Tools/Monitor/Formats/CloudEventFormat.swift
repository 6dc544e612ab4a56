package import EventBus
package import Foundation
internal import Navigation
internal import Support

/// Messages for programs: one JSON object a line, in the structured form of CloudEvents 1.0, and `position` beside it.
package struct CloudEventFormat: MessageFormat {
    package init() {}

    /// - Throws: `EncodingError`.
    package static func line(_ message: Envelope) throws -> String {
        var line: [UInt8] = []
        try append(message, to: &line)
        return String(decoding: line, as: UTF8.self)
    }

    package func write(_ message: Envelope, to lines: inout [UInt8]) throws {
        try Self.append(message, to: &lines)
        lines.append(UInt8(ascii: "\n"))
    }

    private static func append(_ message: Envelope, to line: inout [UInt8]) throws {
        try append(attributesOf: message, to: &line)
        // What follows goes into the same object.
        line.removeLast()
        append(dataOf: message, to: &line)
        if let position = message.position {
            // The epoch in hexadecimal: as a number, most programs would round it.
            let epoch = String(position.epoch, radix: 16)
            line.append(contentsOf: #","position":{"epoch":"\#(epoch)","offset":\#(position.offset)}"#.utf8)
        }
        line.append(UInt8(ascii: "}"))
    }

    /// Of a message whose header cannot be read, its type, and the header as it is.
    private static func append(attributesOf message: Envelope, to line: inout [UInt8]) throws {
        guard let header = message.unreadableHeader else { return message.attributes.writeJSON(to: &line) }
        line += try JSONEncoder.wire.encode([
            "header": String(decoding: header.bytes, as: UTF8.self), "type": message.type.description,
        ])
    }

    /// The data as it was written, not parsed and written anew. What is not JSON goes as CloudEvents' `data_base64`; a
    /// document that was withdrawn has none.
    private static func append(dataOf message: Envelope, to line: inout [UInt8]) {
        if message.data.isEmpty { return }
        if let json = JSONText(message.data) {
            line.append(contentsOf: #","datacontenttype":"application/json","data":"#.utf8)
            line.append(contentsOf: json.utf8)
        } else {
            let base64 = message.data.base64EncodedString()
            line.append(
                contentsOf: #","datacontenttype":"application/octet-stream","data_base64":"\#(base64)""#.utf8)
        }
    }

    /// Reads what ``line(_:)`` writes, and any other CloudEvent in its structured form.
    /// - Throws: ``BusError`` with code `malformed`: what is wrong, in a few words.
    package static func message(_ line: Data) throws -> Envelope {
        let attributes: Attributes
        do {
            attributes = try JSONDecoder().decode(Attributes.self, from: line)
        } catch let error as DecodingError {
            throw BusError(.malformed, error.summary)
        }
        let members = RawMembers(line)
        return Envelope(attributes: attributes, data: try data(members), position: try position(members["position"]))
    }

    private static func data(_ members: RawMembers) throws -> Data {
        if let json = members["data"] { return Data(json) }
        guard let base64 = members["data_base64"] else { return Data() }
        guard let text = try? JSONDecoder().decode(Data.self, from: base64) else {
            throw BusError(.malformed, "its data_base64 is not Base64")
        }
        return text
    }

    private static func position(_ json: Data?) throws -> Position? {
        guard let json else { return nil }
        let value = try? JSONValue(parsing: json)
        guard let epoch = value?["epoch"]?.stringValue.flatMap({ UInt64($0, radix: 16) }),
            let offset = value?["offset"]?.integerValue, offset > 0
        else { throw BusError(.malformed, "its position has no epoch in hexadecimal, or no offset") }
        return Position(epoch: epoch, offset: UInt64(offset))
    }
}
