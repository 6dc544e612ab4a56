/// A rule that waits for the answer to its guard.
struct WaitingAttempt: Hashable, Sendable {
    let session: String
    let id: String
    /// How long it waits.
    let deadline: Duration
    /// The story that it belongs to.
    let correlationID: String
}
