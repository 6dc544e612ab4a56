package import EventBus

/// The results of a message: they are published in one batch with the progress of the consumer.
package struct Handled: Sendable {
    package var messages: [Envelope]
    /// The reason why the message is given up; it becomes a dead letter. `nil` for a message that is handled.
    package var rejection: Rejection?
    /// Called once the results are in the journal, before the next message of the partition is handled.
    package var whenRecorded: (@Sendable () -> Void)?
    /// Whether the message was for another consumer.
    var isPassed = false
    /// How much has been left out because the bus refused it.
    var retreat = Retreat.none

    enum Retreat {
        /// The results are the handler's.
        case none
        /// They are replaced by a dead letter and an error.
        case results
        /// Only a dead letter is left.
        case error
        /// There is no dead letter, since the message is no longer in the journal.
        case letter
        /// Nothing is left.
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
