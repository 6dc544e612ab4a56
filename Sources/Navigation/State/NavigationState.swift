/// Which screens an app shows, and how they lie on one another.
///
/// It says what is intended. Views follow it, and report what they display and what their user does.
public struct NavigationState: Hashable, Sendable {
    /// The screen that all others lie on.
    public var root: RootScreen
    /// What has been pushed on the root, the topmost last.
    public var path: [ScreenInstance]
    /// What is presented: the first over the root's stack, each further one over the one before it.
    public var presentations: [Presentation]
    /// Instances that are dismissed, but that the view may still animate out, in the order of their dismissal.
    public var leaving: [ScreenInstance]
    /// The child flows that run, in the order in which they were begun.
    public var runs: [FlowRun]
    /// The guarded rule that waits for its answer; nil when none does.
    public var attempt: Attempt?
    /// A deep link that cannot be followed yet.
    public var parked: ParkedLink?

    /// Makes a state.
    public init(
        root: RootScreen,
        path: [ScreenInstance] = [],
        presentations: [Presentation] = [],
        leaving: [ScreenInstance] = [],
        runs: [FlowRun] = [],
        attempt: Attempt? = nil,
        parked: ParkedLink? = nil
    ) {
        self.root = root
        self.path = path
        self.presentations = presentations
        self.leaving = leaving
        self.runs = runs
        self.attempt = attempt
        self.parked = parked
    }
}
