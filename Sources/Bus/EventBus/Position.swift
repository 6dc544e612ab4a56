/// A place in a journal. Offsets start at 1 and grow by one with every message.
public struct Position: Codable, Sendable {
    /// Which journal: a new one has a new epoch, and offsets of different epochs do not compare.
    public let epoch: UInt64
    public let offset: UInt64
    /// Up to this offset everything had come before, in the subscription that brought a message from here: a feed that drops
    /// may bring a message of one partition before an earlier one of another. Not part of what the position is.
    package let settled: UInt64

    public init(epoch: UInt64, offset: UInt64) {
        self.init(epoch: epoch, offset: offset, settled: offset)
    }

    package init(epoch: UInt64, offset: UInt64, settled: UInt64) {
        self.epoch = epoch
        self.offset = offset
        self.settled = settled
    }

    private enum CodingKeys: CodingKey {
        case epoch, offset
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            epoch: try container.decode(UInt64.self, forKey: .epoch),
            offset: try container.decode(UInt64.self, forKey: .offset))
    }
}

extension Position: Hashable {
    public static func == (left: Position, right: Position) -> Bool {
        left.epoch == right.epoch && left.offset == right.offset
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(epoch)
        hasher.combine(offset)
    }
}

extension Position: CustomStringConvertible {
    public var description: String { "\(String(epoch, radix: 16))/\(offset)" }
}
