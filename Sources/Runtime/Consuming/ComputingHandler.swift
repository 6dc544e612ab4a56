package import EventBus

/// A handler that only computes: it answers a message from its own state and has no other effects.
///
/// The next message may be handled before the results of the previous message are recorded. If the bus refuses the
/// results of a message, the handler must undo the changes of this message and of all later messages in the partition.
/// The later messages are then handled again.
package protocol ComputingHandler: Sendable {
    /// - Throws: any error; the message is then given up and moved to the dead letters.
    mutating func handle(_ message: Envelope) throws -> Handled
    /// Makes the changes of a partition's messages permanent, up to and including `offset`: their results are recorded.
    mutating func keep(_ partition: Partition, through offset: UInt64)
    /// Undoes the changes that the messages of a partition have made, from `offset` on.
    mutating func takeBack(_ partition: Partition, from offset: UInt64)
}
