public import Support

/// An attempt: a rule with a guard that has matched a message and waits for the answer.
///
/// It is part of the state and of its snapshots. Attempts of different screens can wait at the same time.
public struct PendingGuard: Codable, Hashable, Sendable {
    /// The causation id of the answer: the id of the guard's command, or of ``message`` if the guard sends none.
    public var id: String
    /// The name of the rule: a hash of its message type, conditions and origin, and of its guard's question and
    /// answers.
    public var rule: String
    /// The id of the open screen instance that sent the message. If there is none, it is the id of the screen in front
    /// or, for a rule of a child flow whose screens are covered, of the child flow's frontmost screen. The attempt ends
    /// if this instance is dismissed.
    public var instance: String
    /// The id of the run whose child flow has the rule. Nil for a rule of the flow itself.
    public var run: String?
    /// The maximum time that the attempt waits, in milliseconds, from its beginning or from the last start of the host.
    /// Then the guard's `expired` actions are taken.
    @BoundedCount public var deadline: Int
    /// The message that the rule matched.
    public var message: Machine.Input
    /// The messages that are held back until the attempt ends, in the order of arrival.
    public internal(set) var queue: [Machine.Input] = []

    /// The maximum number of attempts at a time; the message of a further attempt is discarded.
    static let countLimit = 16
    /// The maximum number of queued messages; further messages are discarded.
    static let queueLimit = 16
    /// The maximum size of the data of a message that waits, in bytes of JSON; a message with more data is discarded.
    static let dataLimit = 64 * 1024
    /// The maximum size of the data of all messages that wait or are queued. One attempt cannot exceed it.
    static let sizeLimit = (queueLimit + 1) * dataLimit

    /// The size of the data of the messages that wait or are queued, in bytes of JSON.
    var size: Int { ([message] + queue).reduce(0) { $0 + $1.data.description.utf8.count } }

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

    /// True if the attempt contains the message already.
    func holds(_ input: Machine.Input) -> Bool {
        message.id == input.id || queue.contains { $0.id == input.id }
    }
}
