package import EventBus
internal import Foundation
internal import Support

/// The topic of a message: `kind.Name.partition`, as in `command.PlaylistSelected.3f`.
///
/// The partition is computed from the subject. Messages of one subject and type therefore share a topic.
package struct Topic: Hashable, Sendable {
    /// The maximum length in bytes.
    package static let maximumLength = MessageType.maximumLength + ".ff".utf8.count

    package let type: MessageType
    package let partition: Partition

    package init(_ type: MessageType, subject: String) {
        self.type = type
        self.partition = Partition(subject: subject)
    }

    /// Reads a topic from the wire. Nil if it is malformed.
    package init?(_ text: String) {
        var text = text
        guard let topic = text.withUTF8({ Topic(utf8: $0) }) else { return nil }
        self = topic
    }

    /// The same as ``init(_:)``, for the UTF-8 bytes of a string.
    package init?(utf8 text: UnsafeBufferPointer<UInt8>) {
        let end = text.count - 3
        guard end > 0, text[end] == UInt8(ascii: "."),
            let type = MessageType(utf8: UnsafeBufferPointer(rebasing: text[..<end])),
            let high = UInt8(hexadecimalDigit: text[end + 1]), let low = UInt8(hexadecimalDigit: text[end + 2]),
            let partition = Partition(high << 4 | low)
        else { return nil }
        self.type = type
        self.partition = partition
    }

    package var name: String {
        type.kind.rawValue + "." + type.name + "." + Self.hexadecimal(partition.number)
    }

    /// True if `name` is the topic of the message.
    package static func name(_ name: String, isOf message: Envelope) -> Bool {
        var name = name
        return name.withUTF8 { bytes in
            var index = 0
            func matches(_ text: String) -> Bool {
                var text = text
                return text.withUTF8 { part in
                    defer { index += part.count }
                    guard index + part.count < bytes.count, let base = bytes.baseAddress, let wanted = part.baseAddress
                    else { return false }
                    return bytes[index + part.count] == UInt8(ascii: ".")
                        && memcmp(base + index, wanted, part.count) == 0
                }
            }
            guard matches(message.type.kind.rawValue) else { return false }
            index += 1
            guard matches(message.type.name), index + 3 == bytes.count else { return false }
            let number = message.partition.number
            return bytes[index + 1] == (number >> 4).hexadecimalDigit && bytes[index + 2] == number.hexadecimalDigit
        }
    }

    static func hexadecimal(_ byte: UInt8) -> String {
        String(unsafeUninitializedCapacity: 2) { buffer in
            (buffer[0], buffer[1]) = ((byte >> 4).hexadecimalDigit, byte.hexadecimalDigit)
            return 2
        }
    }
}
