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
        /// Stops a consumer and starts its successor. The old one goes on with ``release``, and is fenced; if it was stopped
        /// before its first claim, its successor is.
        case takeOver
        case release
        /// SIGSTOP for a time: nothing can be counted while the broker stands still. With anybody else the publishers stand
        /// still as well: what they send in seconds takes consumers, who commit each message, minutes.
        case pause(milliseconds: Int)
        /// kill -9 of the broker, and another one only after a time.
        case absence(milliseconds: Int)
    }

    /// How many messages must have been acknowledged in all.
    package let at: Int
    package let member: Member
    package let action: Action
}
