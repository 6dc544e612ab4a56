/// Something that is done to a process.
package struct Step: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// kill -9.
        case kill
        /// SIGSTOP, until a ``resume``.
        case stop
        case resume
        /// Another incarnation, after a ``kill``.
        case start
        /// Stops a consumer and starts its successor; the old one goes on with ``release``, and finds itself fenced.
        case takeOver
        case release
        /// SIGSTOP of the broker: nothing can be counted while it stands still, so it is a time.
        case pause(milliseconds: Int)
    }

    /// How many messages must have been acknowledged in all.
    package let at: Int
    package let member: Member
    package let action: Action
}
