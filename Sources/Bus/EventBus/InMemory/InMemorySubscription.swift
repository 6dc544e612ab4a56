internal import Foundation

/// How far one reader has come in the journal. It holds no messages but the documents it began with.
struct InMemorySubscription: Identifiable {
    let id = UUID()
    let handle: InMemoryEventBus.ID
    let filters: [MessageFilter]
    /// The index in the journal of the first message not looked at yet.
    var next: Int
    /// What a subscription from ``StartPosition/retained`` has yet to read before the journal.
    var retained: ArraySlice<Envelope> = []
    /// Finished when something new is in the journal.
    var wake: AsyncStream<Never>.Continuation?

    mutating func take(from journal: [Envelope]) -> Envelope? {
        if let document = retained.popFirst() { return document }
        while next < journal.count {
            let message = journal[next]
            next += 1
            if filters.contains(where: { $0.matches(message) }) { return message }
        }
        return nil
    }
}
