public import Support

/// A wait of a rule with `after` whose conditions hold. It is part of the state and of its snapshots.
public struct PendingWait: Codable, Hashable, Sendable {
    /// The id, with which the host reports the end of the wait.
    public var id: String
    /// The name of the rule: a hash of its time and its conditions.
    public var rule: String
    /// The id of the run whose child flow has the rule. Nil for a rule of the flow itself.
    public var run: String?
    /// The ids of the instances that fulfil the conditions. If others replace them, the wait ends. Nil in a state that an
    /// older version has stored.
    public var instances: [String]?
    /// The time to wait, in milliseconds, from the beginning of the wait or from the last start of the host.
    @BoundedCount public var delay: Int
    /// True if the time is over and the actions were taken. The wait then stays in the state as long as the conditions
    /// hold, so that the actions are not taken again. Nil means false.
    public var isOver: Bool?

    /// The maximum number of waits in a state; further waits do not begin.
    static let limit = 64

    init(id: String, rule: String, run: String?, instances: [String]? = nil, delay: Duration) {
        self.id = id
        self.rule = rule
        self.run = run
        self.instances = instances
        self.delay = delay.milliseconds
    }
}

extension NavigationState {
    /// The ids of the attempts and of the waits whose deadline the host has to report.
    package var awaitedDeadlines: [String] {
        attempts.map(\.id) + waits.filter { $0.isOver != true }.map(\.id)
    }
}
