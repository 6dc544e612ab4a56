/// The place of a message in a journal.
///
/// Offsets grow. Those of one batch follow each other; between two batches a journal may leave out any number of
/// offsets. So the difference of two offsets is not a number of messages; use ``BusInspection/lag(after:matching:)``.
public struct Position: Hashable, Codable, Sendable {
    /// The greatest offset that a journal can have. A greater one from outside is refused, so that the offset after one
    /// always exists.
    package static let greatestOffset = UInt64(Int64.max)

    /// The identity of the journal. A new journal has a new epoch; offsets of different epochs cannot be compared.
    public let epoch: UInt64
    /// At least 1 for a message. A position can also have the offset 0, before the first message, or the offset of no
    /// message.
    public let offset: UInt64

    public init(epoch: UInt64, offset: UInt64) {
        self.epoch = epoch
        self.offset = offset
    }

    private enum CodingKeys: CodingKey {
        case epoch, offset
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let offset = try container.decode(UInt64.self, forKey: .offset)
        guard offset <= Self.greatestOffset else {
            let message = "\(offset) is greater than the greatest offset, \(Self.greatestOffset)"
            throw DecodingError.dataCorruptedError(forKey: .offset, in: container, debugDescription: message)
        }
        self.init(epoch: try container.decode(UInt64.self, forKey: .epoch), offset: offset)
    }

    /// Reads an offset in decimal. Nil for any other text, and beyond ``greatestOffset``.
    package static func offset(_ text: some StringProtocol) -> UInt64? {
        UInt64(text).flatMap { $0 <= greatestOffset ? $0 : nil }
    }
}

extension Position: CustomStringConvertible {
    public var description: String { "\(String(epoch, radix: 16))/\(offset)" }
}
