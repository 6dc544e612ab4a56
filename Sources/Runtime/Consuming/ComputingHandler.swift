package import EventBus

/// A handler that only computes: it answers a message from its own state and has no other effects.
///
/// The next message is handled before the results of the previous one are recorded. If the bus refuses those results,
/// the handler must undo the changes of that message and of all later ones in the partition; the later messages are
/// then handled again.
package protocol ComputingHandler: Sendable {
    /// - Throws: any error; the message is then given up and moved to the dead letters.
    mutating func handle(_ message: Envelope) throws -> Handled
    /// Makes the changes of a partition's messages permanent: their results are recorded up to and including `offset`.
    mutating func keep(_ partition: Partition, through offset: UInt64)
    /// Undoes the changes that the messages of a partition have made, from `offset` on.
    mutating func takeBack(_ partition: Partition, from offset: UInt64)
}
