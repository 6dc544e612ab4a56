package import EventBus
package import Foundation
internal import Navigation
package import Support

/// Writes messages for programs: each line is a JSON object, a CloudEvents 1.0 message in structured mode with the
/// additional member `position`.
package struct CloudEventFormat: MessageFormat {
    package init() {}

    /// The message as a line, without a newline.
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
        // Removes the closing brace: the data and the position are members of the object, too.
        line.removeLast()
        append(dataOf: message, to: &line)
        if let position = message.position {
            // The epoch is a hexadecimal string because many JSON parsers round 64-bit integers.
            let epoch = String(position.epoch, radix: 16)
            line.append(contentsOf: #","position":{"epoch":"\#(epoch)","offset":\#(position.offset)}"#.utf8)
        }
        line.append(UInt8(ascii: "}"))
    }

    /// Appends an object with the attributes. If the header cannot be read, the object has the type and the unread
    /// header instead.
    private static func append(attributesOf message: Envelope, to line: inout [UInt8]) throws {
        guard let header = message.unreadableHeader else { return message.attributes.writeJSON(to: &line) }
        line += try JSONWriter.bytes(
            of: ["header": String(decoding: header.bytes, as: UTF8.self), "type": message.type.description])
    }

    /// Appends the data as ``JSONText``: without blanks between its parts, otherwise as it was published. Data that is
    /// not JSON is appended as the CloudEvents member `data_base64`. If the data is empty, as in a withdrawn document,
    /// nothing is appended.
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

    /// Reads the output of ``line(_:)``, or another CloudEvent in structured mode.
    /// - Throws: ``BusError`` with the code `malformed` if the line is not a message.
    package static func message(_ line: Data) throws -> Envelope {
        let (attributes, event): (Attributes, JSONText)
        do {
            attributes = try JSONReader.decode(Attributes.self, from: line)
            event = try JSONText(parsing: line)
        } catch let error as DecodingError {
            throw BusError(.malformed, error.summary)
        }
        return Envelope(
            attributes: attributes, data: try data(of: event) ?? Data(), position: try position(event["position"]))
    }

    /// The data of a CloudEvent in structured mode, as it is written there. Nil if the event has no data.
    /// - Throws: ``BusError`` with the code `malformed` if `data_base64` is not Base64.
    package static func data(of event: JSONText) throws(BusError) -> Data? {
        if let json = event["data"] { return Data(json.utf8) }
        guard let base64 = event["data_base64"] else { return nil }
        guard let bytes = base64.stringValue.flatMap({ Data(base64Encoded: $0) }) else {
            throw BusError(.malformed, "data_base64 is not Base64")
        }
        return bytes
    }

    private static func position(_ json: JSONText?) throws -> Position? {
        guard let json else { return nil }
        let value = try? JSONValue(parsing: Data(json.utf8))
        guard let epoch = value?["epoch"]?.stringValue.flatMap({ UInt64($0, radix: 16) }),
            let offset = value?["offset"]?.integerValue, offset > 0
        else {
            throw BusError(.malformed, "position needs 'epoch', a hexadecimal string, and 'offset', a number from 1")
        }
        return Position(epoch: epoch, offset: UInt64(offset))
    }
}
