internal import EventBus

/// Reads a journal from an end towards its beginning, in stretches that double: whoever looks for what is new reads little of
/// a long one.
struct JournalTail {
    private let bus: any EventBus
    /// What stands behind this has been read.
    private(set) var start: Position
    /// Messages of the next stretch; the first takes about one answer of a broker.
    private var length: UInt64 = 256

    init(of bus: any EventBus, end: Position) {
        self.bus = bus
        start = end
    }

    /// Reads the next stretch, in the order of the journal. Retention may have left nothing of it.
    /// - Parameter limit: an offset behind which nothing more is wanted.
    /// - Returns: false when there is none.
    mutating func readStretch(
        _ filters: [MessageFilter], through limit: UInt64 = .max, _ take: (Envelope) -> Void
    ) async throws -> Bool {
        let end = Position(epoch: start.epoch, offset: min(start.offset, limit))
        guard end.offset > 0 else { return false }
        start = Position(epoch: end.epoch, offset: end.offset - min(end.offset, length))
        length *= 2
        try await bus.withSubscription(to: filters, from: .after(start), until: end, onNotice: nil) {
            for try await message in $0 { take(message) }
        }
        return true
    }
}
