internal import EventBus
internal import Navigation

/// What a message led to.
struct Outcome: Sendable {
    /// What is to be published, in one batch.
    var messages: [Envelope] = []
    /// The screens to be reported as gone should no view do so.
    var leaving: [LeavingScreen] = []
    /// The attempts whose deadlines are to be reported should they still wait then.
    var waiting: [WaitingAttempt] = []
    /// The rules that matched and could not be applied.
    var failures: [NavigationFailure] = []
}
