import Support

/// A guarded rule that has matched a message and waits for the answer.
///
/// It stands in the state, so a view can show that something is going on, and a host that was killed goes on waiting.
public struct PendingGuard: Codable, Hashable, Sendable {
    /// What the answer carries as its causation: the identifier of the command that asks, or else of ``message``.
    public var id: String
    /// The rule, by a name that outlives changes to the rest of the flow.
    public var rule: String
    /// The screen that it belongs to: the one that sent the message, or that was in front. It ends with that instance.
    public var instance: String
    /// The run of the child flow that the rule is of; nil for one of the flow's own.
    public var run: String?
    /// How long it waits, in milliseconds from its beginning or from the host's last start.
    public var deadline: Int
    /// The message that the rule matched.
    public var message: Machine.Input
    /// What is held back until it ends, in the order of arrival.
    public internal(set) var queue: [Machine.Input] = []

    /// How many messages are held back at most: more than a user means to send while nothing seems to happen.
    static let queueLimit = 16
    /// How large the data of a message may be that waits, in bytes of JSON: all of it is written with every snapshot.
    static let dataLimit = 64 * 1024

    init(
        id: String, rule: String, instance: String, run: String?, deadline: Duration, message: Machine.Input
    ) {
        self.id = id
        self.rule = rule
        self.instance = instance
        self.run = run
        self.deadline = deadline.milliseconds
        self.message = message
    }

    /// Whether the message is in here already.
    func holds(_ input: Machine.Input) -> Bool {
        message.id == input.id || queue.contains { $0.id == input.id }
    }
}
