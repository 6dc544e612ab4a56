internal import Support

/// One of ``count`` groups of subjects. The members that share a durable consumer divide the partitions among
/// themselves. The partition of a subject never changes.
public struct Partition: Hashable, Comparable, Sendable {
    public static let count = 64
    public static let all: [Partition] = (0..<UInt8(count)).map { Partition(number: $0) }

    public let number: UInt8

    /// Calculates the partition of a subject: the FNV-1a hash of its UTF-8 bytes, modulo ``count``.
    public init(subject: String) {
        var hash = FNV1a()
        hash.combine(subject)
        number = UInt8(truncatingIfNeeded: hash.value % UInt64(Self.count))
    }

    /// The same as ``init(subject:)``, for the UTF-8 bytes of a subject.
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
