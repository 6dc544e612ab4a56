/// What a request asks for.
package enum Operation: UInt8, Sendable, CaseIterable {
    /// I am this producer, and I am alive.
    case hello = 1
    /// Append a batch.
    case publish = 2
    /// A page of the journal.
    case read = 3
    /// Which topics have grown: what a subscriber compares with what it has got.
    case heads = 4
    /// A page of the retained documents.
    case documents = 5
    /// Take a durable consumer over.
    case claim = 6
    /// I leave; my leased documents may go at once.
    case bye = 7
}
