/// The place of a message in a journal.
///
/// Offsets grow. Those of one batch follow each other; between two batches a journal may leave out any number of
/// offsets. So the difference of two offsets is not a number of messages; use ``EventBus/lag(after:matching:)``.
public struct Position: Codable, Sendable {
    /// The identity of the journal. A new journal has a new epoch; offsets of different epochs cannot be compared.
    public let epoch: UInt64
    /// At least 1 for a message. A position can also have the offset 0, before the first message, or the offset of no
    /// message.
    public let offset: UInt64
    /// In a delivered message, the offset up to which the subscription had delivered everything when it delivered the
    /// message; otherwise `offset`. It can be smaller than `offset`, because an earlier message of another partition
    /// may not have arrived yet. Ignored by `==` and `hash(into:)`.
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
