internal import Foundation

/// A message in the journal of an ``InMemoryHub``.
struct JournalEntry: Sendable {
    let message: Envelope
    /// When it was journalled.
    let time: Date
}
