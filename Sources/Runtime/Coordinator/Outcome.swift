internal import EventBus
internal import Navigation

/// What a message led to.
struct Outcome: Sendable {
    /// What is to be published, in one batch.
    var messages: [Envelope] = []
    /// What is to be reported should nobody else do so.
    var expectations: [Expectation] = []
    /// The rules that matched and could not be applied.
    var failures: [NavigationFailure] = []
}
