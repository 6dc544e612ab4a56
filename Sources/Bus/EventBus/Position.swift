/// A place in a journal. Offsets start at 1 and grow by one with every message.
public struct Position: Hashable, Codable, Sendable {
    /// Which journal: a new one has a new epoch, and offsets of different epochs do not compare.
    public let epoch: UInt64
    public let offset: UInt64

    public init(epoch: UInt64, offset: UInt64) {
        self.epoch = epoch
        self.offset = offset
    }
}

extension Position: CustomStringConvertible {
    public var description: String { "\(String(epoch, radix: 16))/\(offset)" }
}
