package import EventBus

/// The results of a message. They are published in one batch with the consumer's progress.
package struct Handled: Sendable {
    package var messages: [Envelope]
    /// The reason why the message is given up and moved to the dead letters. Nil for a message that is not given up.
    package var rejection: Rejection?
    /// The messages to publish with the dead letter if the bus refuses ``messages``.
    var whenGivenUp: [Envelope] = []
    /// Called after the results are recorded.
    package var whenRecorded: (@Sendable () -> Void)?
    /// True if the message was sent again to another consumer only, and is therefore skipped.
    var isPassed = false
    /// The results that have been left out so far because the bus refused them.
    var retreat = Retreat.none

    enum Retreat {
        /// None: the results are those of the handler.
        case none
        /// The results of the handler were replaced with a dead letter and an error.
        case results
        /// The error was left out, too. Only the dead letter remains.
        case error
        /// The dead letter was left out.
        case deadLetter
        /// Everything was left out.
        case all
    }

    package init(
        _ messages: [Envelope] = [], rejection: Rejection? = nil, whenRecorded: (@Sendable () -> Void)? = nil
    ) {
        self.messages = messages
        self.rejection = rejection
        self.whenRecorded = whenRecorded
    }
}
