/// What one user of a bus with keys may have at the broker, so that no user takes everything from the others. A bus
/// without keys does not know its users: only the limits of the whole broker apply there.
package struct UserLimits: Sendable {
    /// The maximum number of TCP connections; a client has two. The newest ones end beyond it.
    package var connections = 256
    /// The maximum number of subscriptions of the open TCP connections. The connection with the next one ends.
    package var subscriptions = 10_000
    /// The maximum number of requests for content that wait. Further ones are dropped: clients send them again.
    package var waitingReads = 1024
    /// The maximum number of bytes of the requests that wait. Further ones are dropped: clients send them again.
    package var waitingSize = 64 << 20
    /// The maximum number of open queries. A server has at most 256, so that one user cannot keep it from the others.
    package var openQueries = 64

    package init() {}
}
