package import EventBus

/// Reads the messages of a bus that are to be recorded.
package struct Recorder: Sendable {
    private let reading: JournalReading
    private let selection: MessageSelection
    private let count: Int

    /// - Parameters:
    ///   - end: up to where; nil for as long as the task runs.
    ///   - count: how many messages at most.
    package init(
        bus: any EventBus, selection: MessageSelection, start: MonitorStart, end: JournalEnd?, count: Int? = nil
    ) {
        reading = JournalReading(bus: bus, start: start, end: end)
        self.selection = selection
        self.count = count ?? .max
    }

    /// Writes each message that matches, in the order of the journal, up to the end or until the task is cancelled.
    /// - Throws: ``BusError``, and what `write` throws.
    package func run(_ write: @escaping @Sendable (Envelope) async throws -> Void) async throws {
        let (selection, count) = (selection, count)
        _ = try await reading.reduce(into: 0, selection.filters) { written, message in
            guard selection.matches(message) else { return false }
            try await write(message)
            written += 1
            return written >= count
        }
    }
}
