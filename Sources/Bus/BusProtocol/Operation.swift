/// What a request asks for. The operations `query` and `cancel` also travel from the broker to a client.
package enum Operation: UInt8, Sendable, CaseIterable {
    /// I am this producer, I am alive, and this is what I have seen of the journal.
    case hello = 1
    /// Append a batch.
    case publish = 2
    /// A page of the journal.
    case read = 3
    /// Which topics have grown: what a subscriber compares with what it has got.
    case heads = 4
    /// A page of the retained documents.
    case documents = 5
    /// Take part in a durable consumer.
    case claim = 6
    /// I leave; my leased documents and my partitions may go at once.
    case bye = 7
    /// Where in the journal a time is.
    case locate = 8
    /// A page of the dead letters.
    case letters = 9
    /// These are the queries that I answer.
    case serve = 10
    /// Put a query to whoever serves it.
    case ask = 11
    /// The answer to a query.
    case answer = 12
    /// A query that the broker hands to whoever serves it. It gets an answer instead of a reply.
    case query = 13
    /// Nobody waits for the answer any more.
    case cancel = 14
    /// One retained document.
    case document = 15
    /// The durable consumers, with their progress.
    case consumers = 16
    /// Remove a durable consumer.
    case forget = 17
}
