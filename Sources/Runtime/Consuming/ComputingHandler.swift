package import EventBus

/// A handler that only computes: it answers a message from its own state.
///
/// A message is handled before the results of the message before it are recorded. If these are refused, the state is taken
/// back, and the messages after that one are handled again.
package protocol ComputingHandler: Sendable {
    /// - Throws: what makes the message a dead letter.
    mutating func handle(_ message: Envelope) throws -> Handled
    /// The results of the messages of a partition are recorded up to this offset.
    mutating func keep(_ partition: Partition, through offset: UInt64)
    /// Takes back what the messages of a partition have changed, from this offset on.
    mutating func takeBack(_ partition: Partition, from offset: UInt64)
}
