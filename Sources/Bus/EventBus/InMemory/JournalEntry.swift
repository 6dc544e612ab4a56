internal import Foundation

/// A message in the journal of an ``InMemoryHub``.
struct JournalEntry: Sendable {
    let message: Envelope
    /// When it was journalled.
    let time: Date

    /// Whether one of these filters takes messages of its type, whoever they are for.
    func hasType(of filters: [MessageFilter]) -> Bool {
        filters.contains { $0.matches(message.type, subject: $0.subject ?? message.subject) }
    }
}
