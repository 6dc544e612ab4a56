package import EventBus

/// A handler that only computes: it answers a message from its own state and has no other effects. It runs on the bus's
/// thread, so it must not take long.
///
/// It keeps the states of some sessions in memory. Before a message, the loop reads the documents that the handler
/// needs for the message's session.
///
/// The next message may be handled before the results of the previous message are recorded. If the bus refuses the
/// results of a message, the handler must undo the changes of this message and of all later messages in the partition.
/// The later messages are then handled again.
package protocol ComputingHandler: Sendable {
    /// The documents that the handler needs before it can handle a message. Nil if it needs none.
    func missing(for message: Envelope) -> [DocumentName]?
    /// Receives the documents that were missing for a message. Those that do not exist are left out.
    mutating func restore(_ documents: [Envelope], for message: Envelope)
    /// - Throws: any error; the message is then given up and moved to the dead letters.
    mutating func handle(_ message: Envelope) throws -> Handled
    /// Makes the changes of a partition's messages permanent, up to and including `offset`: their results are recorded.
    mutating func keep(_ partition: Partition, through offset: UInt64)
    /// Undoes the changes that the messages of a partition have made, from `offset` on.
    mutating func revert(_ partition: Partition, from offset: UInt64)
    /// Forgets the states of partitions: another member may have changed them.
    mutating func forget(_ partitions: Set<Partition>)
}
