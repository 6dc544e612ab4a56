/// Messages of one type that retention removed before a durable consumer had handled them.
public struct CutOff: Hashable, Sendable {
    public let type: MessageType
    public let count: Int
    /// The offsets between which they stood.
    public let offsets: ClosedRange<UInt64>

    public init(type: MessageType, count: Int, offsets: ClosedRange<UInt64>) {
        self.type = type
        self.count = count
        self.offsets = offsets
    }
}
