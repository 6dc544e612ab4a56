internal import Support

/// A share of the work on a bus. A subject always belongs to the same one of ``count`` partitions, so that the messages of
/// one subject keep their order when several instances of a service share the rest.
public struct Partition: Hashable, Comparable, Sendable {
    public static let count = 64
    public static let all: [Partition] = (0..<UInt8(count)).map { Partition(number: $0) }

    public let number: UInt8

    /// The partition of a subject: FNV-1a of its UTF-8 bytes, modulo ``count``.
    public init(subject: String) {
        var hash = FNV1a()
        hash.combine(subject.utf8)
        number = UInt8(truncatingIfNeeded: hash.value % UInt64(Self.count))
    }

    /// As ``init(subject:)``, of a subject's UTF-8 bytes.
    package init(subject: UnsafeRawBufferPointer) {
        var hash = FNV1a()
        hash.combine(subject)
        number = UInt8(truncatingIfNeeded: hash.value % UInt64(Self.count))
    }

    /// Nil unless `number` is below ``count``.
    public init?(_ number: UInt8) {
        guard number < Self.count else { return nil }
        self.number = number
    }

    private init(number: UInt8) {
        self.number = number
    }

    public static func < (left: Partition, right: Partition) -> Bool {
        left.number < right.number
    }
}
