package import EventBus

/// The first frame of a message: `kind.Name.partition`, as in `command.PlaylistSelected.3f`.
///
/// The partition comes from the subject, so messages of one subject and type share a topic and keep their order, and the
/// number of topics stays small however many subjects there are.
package struct Topic: Hashable, Sendable {
    /// Bytes of a topic.
    package static let maximumLength = MessageType.maximumLength + ".ff".utf8.count

    package let type: MessageType
    package let partition: Partition

    package init(_ type: MessageType, subject: String) {
        self.type = type
        self.partition = Partition(subject: subject)
    }

    /// Reads a topic from the wire; nil unless it is well formed.
    package init?(_ text: String) {
        guard text.utf8.count > 3, let dot = text.lastIndex(of: "."), text[dot...].utf8.count == 3,
            let type = MessageType(String(text[..<dot])),
            let partition = UInt8(text[text.index(after: dot)...], radix: 16).flatMap(Partition.init)
        else { return nil }
        self.type = type
        self.partition = partition
        guard name == text else { return nil }
    }

    package var name: String {
        // Written for every message, so without interpolation.
        type.kind.rawValue + "." + type.name + "." + Self.hexadecimal(partition.number)
    }

    /// Whether a name is that of a message's topic; asked of every message that is received, so without making one.
    package static func name(_ name: String, isOf message: Envelope) -> Bool {
        var rest = name.utf8[...]
        let takes = { (text: String) in
            defer { rest = rest.dropFirst(text.utf8.count) }
            return rest.starts(with: text.utf8)
        }
        return takes(message.type.kind.rawValue) && takes(".") && takes(message.type.name) && takes(".")
            && rest.elementsEqual(hexadecimal(message.partition.number).utf8)
    }

    static func hexadecimal(_ byte: UInt8) -> String {
        String(unsafeUninitializedCapacity: 2) { buffer in
            for (index, digit) in [byte >> 4, byte & 0xf].enumerated() {
                buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return 2
        }
    }
}
