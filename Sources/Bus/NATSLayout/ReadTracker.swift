/// The state of a reader of the journal.
///
/// JetStream can lose messages that are on their way when a server ends, without an error. Each delivery therefore has
/// a consumer sequence, which grows by one. After a gap, a reconnection, or an error of the consumer, the reader makes
/// a new consumer after the last stream sequence that it has received. Each consumer of the reader is a *generation*;
/// deliveries of earlier generations are ignored.
package struct ReadTracker: Sendable {
    package enum Decision: Hashable, Sendable {
        case deliver
        /// The message was delivered already, or belongs to an earlier consumer.
        case ignore
        /// Make a consumer that begins at this sequence, and call ``ReadTracker/begin(connection:pending:)``.
        case renew(from: UInt64)
    }

    /// A delivery of JetStream: what its reply subject says.
    package struct Delivery: Hashable, Sendable {
        package let generation: Int
        package let consumerSequence: UInt64
        package let streamSequence: UInt64
        /// The number of messages after this one that match and are not delivered yet.
        package let pending: UInt64

        package init(generation: Int, consumerSequence: UInt64, streamSequence: UInt64, pending: UInt64) {
            self.generation = generation
            self.consumerSequence = consumerSequence
            self.streamSequence = streamSequence
            self.pending = pending
        }
    }

    /// The offset up to which messages are not wanted.
    private let start: UInt64
    /// The reader ends when everything up to this offset has been received. Nil for no end.
    private let end: UInt64?
    /// The number of the consumer; 0 before the first one.
    private(set) package var generation = 0
    /// The sequence at which the next consumer would begin.
    private(set) package var nextSequence: UInt64
    private var lastConsumerSequence: UInt64 = 0
    private var connection = 0
    private var needsConsumer = true
    /// True if no message that matches was pending at the last delivery of this consumer.
    private var isCaughtUp = false

    /// - Parameters:
    ///   - start: The offset after which the reader begins.
    ///   - end: The offset after which it ends; nil for no end.
    package init(after start: UInt64, until end: UInt64? = nil) {
        self.start = start
        self.end = end
        nextSequence = StreamPosition.start(after: start)
    }

    // MARK: Consumers

    /// Begins with a new consumer at ``nextSequence``.
    /// - Parameters:
    ///   - connection: The number of connections so far.
    ///   - pending: The number of messages that the consumer has to deliver.
    /// - Returns: The generation of its deliveries.
    package mutating func begin(connection: Int, pending: UInt64) -> Int {
        generation += 1
        self.connection = connection
        (lastConsumerSequence, needsConsumer) = (0, false)
        isCaughtUp = pending == 0
        return generation
    }

    /// Handles the first sequence of the stream that retention has kept.
    /// - Returns: The last offset that was removed before the reader had read it; nil if nothing was.
    package mutating func handle(firstSequence: UInt64) -> UInt64? {
        guard firstSequence > nextSequence else { return nil }
        let removed = StreamPosition.end(before: firstSequence)
        nextSequence = firstSequence
        return removed > start ? removed : nil
    }

    private mutating func renew() -> Decision {
        needsConsumer = true
        isCaughtUp = false
        return .renew(from: nextSequence)
    }

    // MARK: Deliveries

    package mutating func receive(_ delivery: Delivery, connection: Int) -> Decision {
        guard delivery.generation == generation, !needsConsumer else { return .ignore }
        guard connection == self.connection else { return renew() }
        guard delivery.consumerSequence > lastConsumerSequence else { return .ignore }
        guard delivery.consumerSequence == lastConsumerSequence + 1,
            delivery.streamSequence <= StreamPosition.maximumSequence
        else { return renew() }
        lastConsumerSequence = delivery.consumerSequence
        isCaughtUp = delivery.pending == 0
        guard delivery.streamSequence >= nextSequence else { return .ignore }
        nextSequence = delivery.streamSequence + 1
        return .deliver
    }

    /// Handles a heartbeat.
    /// - Parameter lastConsumerSequence: The sequence of the last delivery, which the heartbeat says; nil if it does
    ///   not.
    package mutating func heartbeat(
        generation: Int, lastConsumerSequence: UInt64?, connection: Int
    ) -> Decision {
        guard generation == self.generation, !needsConsumer else { return .ignore }
        guard connection == self.connection, lastConsumerSequence ?? 0 <= self.lastConsumerSequence else {
            return renew()
        }
        return .ignore
    }

    // MARK: Beginning and end

    /// True if the message is after the start and not beyond the end.
    package func isWanted(_ offset: UInt64) -> Bool {
        offset > start && end.map { offset <= $0 } ?? true
    }

    /// The offset up to which everything was received.
    package var received: UInt64 { max(StreamPosition.end(before: nextSequence), start) }

    /// Records that there is nothing more to receive up to the end of the journal. Call it with an end that was read
    /// before the state of the consumer.
    /// - Parameters:
    ///   - end: The end of the journal.
    ///   - pending: The number of messages that the consumer has to deliver. It must come from a server that has the
    ///     journal up to `end`.
    ///   - lastConsumerSequence: The sequence of the last delivery, from the same answer.
    package mutating func record(journalEnd end: UInt64, pending: UInt64, lastConsumerSequence: UInt64) {
        guard !needsConsumer, pending == 0, lastConsumerSequence == self.lastConsumerSequence else { return }
        isCaughtUp = true
        nextSequence = max(nextSequence, StreamPosition.start(after: end))
    }

    /// True if the reader has an end and everything up to it was received.
    package var isAtEnd: Bool {
        guard let end else { return false }
        return received >= end
    }

    /// True if the engine should ask for the end of the journal, because the reader waits for its own end and no
    /// message that matches is pending.
    package var shouldAskForEnd: Bool { end != nil && isCaughtUp && !isAtEnd && !needsConsumer }
}
