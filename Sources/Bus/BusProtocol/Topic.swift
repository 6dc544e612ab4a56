package import EventBus

/// The first frame of a message: `kind.Name.partition`, as in `command.PlaylistSelected.3f`.
///
/// The partition comes from the subject, so messages of one subject and type share a topic and keep their order, and the
/// number of topics stays small however many subjects there are.
package struct Topic: Hashable, Sendable {
    package static let partitionCount: UInt64 = 64

    package let type: MessageType
    package let partition: UInt8

    package init(_ type: MessageType, subject: String) {
        self.type = type
        self.partition = Self.partition(of: subject)
    }

    /// Reads a topic from the wire; nil unless it is well formed.
    package init?(_ text: String) {
        guard text.utf8.count > 3, let dot = text.lastIndex(of: "."), text[dot...].utf8.count == 3,
            let type = MessageType(String(text[..<dot])),
            let partition = UInt8(text[text.index(after: dot)...], radix: 16), partition < Self.partitionCount
        else { return nil }
        self.type = type
        self.partition = partition
        guard name == text else { return nil }
    }

    package var name: String { "\(type).\(Self.hexadecimal(partition))" }

    /// The stable hash of a subject, modulo the number of partitions.
    package static func partition(of subject: String) -> UInt8 {
        var hash = Hash()
        hash.combine(subject.utf8)
        return UInt8(truncatingIfNeeded: hash.value % partitionCount)
    }

    static func hexadecimal(_ partition: UInt8) -> String {
        (partition < 16 ? "0" : "") + String(partition, radix: 16)
    }
}
