internal import EventBus

/// What a message led to.
struct MessageOutcome {
    /// What is published in one batch with the progress.
    var messages: [Envelope] = []
    /// Why the message was given up: it becomes a dead letter.
    var rejection: Rejection?
}
