/// What one user of a bus with keys may have at the broker, so that no user takes everything from the others. A bus
/// without keys does not know its users: only the limits of the whole broker apply there.
package struct UserLimits: Sendable {
    /// The maximum number of TCP connections over which something was sent; a client has two. The newest ones end beyond
    /// it.
    package var connections = 64
    /// The maximum number of subscriptions of the open TCP connections. The connection with the next one ends.
    package var subscriptions = 10_000
    /// The maximum number of requests for content that wait. Further ones are dropped: clients send them again.
    package var waitingReads = 1024
    /// The maximum number of bytes of the requests that wait. The connection of the next one ends, and what waits from it
    /// is dropped: the client sends it again.
    package var waitingSize = 64 << 20
    /// The maximum number of open queries. A server has at most 256, so that one user cannot keep it from the others.
    package var openQueries = 64
    /// The maximum number of producers, and so of processes, at a time.
    package var presentProducers = 1024
    /// The maximum number of producers that are remembered. Beyond it, those that have been silent for longest are
    /// forgotten.
    package var producers = 10_000
    /// The maximum number of topics that a name has begun, recorded and transient ones each. They are never forgotten.
    package var topics = 16_384
    /// The maximum number of durable consumers that a name has begun.
    package var consumers = 256
    /// The maximum number of bytes of the retained documents of a name.
    package var documentSize = 512 << 20
    /// The same for a device, which publishes no documents but its presences.
    package var deviceDocumentSize = 4 << 20
    /// The number of bytes of the dead letters that a name has rejected at which the oldest ones of the publisher with
    /// the most bytes are removed.
    package var deadLetterSize = 128 << 20

    package init() {}
}
