package import EventBus
internal import Foundation

/// Messages for programs: one JSON object a line, in the structured form of CloudEvents 1.0, and `position` beside it.
package enum CloudEventFormat {
    /// - Throws: `EncodingError`.
    package static func line(_ message: Envelope) throws -> String {
        let attributes = String(decoding: try attributes(of: message), as: UTF8.self)
        let members = [String(attributes.dropFirst().dropLast())] + data(of: message) + position(of: message)
        return "{\(members.joined(separator: ","))}"
    }

    /// Of a message whose header cannot be read, its type, and the header as it is.
    private static func attributes(of message: Envelope) throws -> Data {
        guard let header = message.unreadableHeader else { return try JSONEncoder.wire.encode(message.attributes) }
        return try JSONEncoder.wire.encode([
            "header": String(decoding: header.bytes, as: UTF8.self), "type": message.type.description,
        ])
    }

    /// The data as it was written, not parsed and written anew. What is not JSON goes as CloudEvents' `data_base64`; a
    /// document that was withdrawn has none.
    private static func data(of message: Envelope) -> [String] {
        if message.data.isEmpty { return [] }
        if let json = JSONText(message.data) {
            return [#""datacontenttype":"application/json""#, #""data":\#(json)"#]
        }
        let base64 = message.data.base64EncodedString()
        return [#""datacontenttype":"application/octet-stream""#, #""data_base64":"\#(base64)""#]
    }

    /// The epoch in hexadecimal: as a number, most programs would round it.
    private static func position(of message: Envelope) -> [String] {
        guard let position = message.position else { return [] }
        return [#""position":{"epoch":"\#(String(position.epoch, radix: 16))","offset":\#(position.offset)}"#]
    }
}
