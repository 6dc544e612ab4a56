/// How far a producer has been heard: what makes a batch that is sent twice count once.
struct ProducerRow {
    /// A producer that has been silent for this long is forgotten: it will not resend. In milliseconds.
    static let retention: Int64 = 7 * 24 * 60 * 60 * 1000

    /// Beyond it those go that have been silent for longest: each costs memory.
    static let capacity = 100_000

    /// The last batch that was taken.
    var sequence: UInt64
    /// Where that batch ended.
    var offset: UInt64
    /// When that was, or when the producer was last known to live.
    var time: Int64
    /// Whether it has changed in the transaction under way.
    var hasMoved = false
}
