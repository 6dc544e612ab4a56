public import Support

extension Flow {
    /// A question that stands between a rule and what it does.
    ///
    /// The rule's actions are taken when the accepting answer comes; until then an ``Attempt`` waits in the state. An
    /// answer is a message that carries the attempt's identifier as its causation: of the command that asks or, when
    /// the guard sends none, of the message that the rule matched, which a service answers of its own accord.
    public struct Guard: Hashable, Sendable {
        /// The command that asks.
        public let ask: Ask?
        /// The answer that lets the rule's actions happen.
        public let accept: Answer
        /// The answer that ends the attempt instead.
        public let reject: Answer?
        /// How long to wait for either: a user must never be caught by a service that has died.
        public let deadline: Duration
        /// What becomes of the user's commands while the attempt waits.
        public let meanwhile: Meanwhile
        /// What to do when it is rejected. Without any, the rejecting message is met by the rules like any other.
        public let rejected: [Action]
        /// What to do when the deadline has passed.
        public let expired: [Action]

        /// Declares a guard.
        public init(
            ask: Ask? = nil,
            accept: Answer,
            reject: Answer? = nil,
            deadline: Duration,
            meanwhile: Meanwhile = .drop,
            rejected: [Action] = [],
            expired: [Action] = []
        ) {
            self.ask = ask
            self.accept = accept
            self.reject = reject
            self.deadline = deadline
            self.meanwhile = meanwhile
            self.rejected = rejected
            self.expired = expired
        }
    }
}

extension Flow.Guard {
    /// The command that puts a guard's question. Strings in its data may be templates.
    public struct Ask: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The command's type.
        public let type: String
        /// What it carries.
        public let data: JSONValue

        /// Names a command and its data.
        public init(_ type: String, data: JSONValue = .object([:])) {
            self.type = type
            self.data = data
        }

        /// Names a command that carries nothing.
        public init(stringLiteral type: String) {
            self.init(type)
        }
    }

    /// A message that answers, by its type and fields.
    public struct Answer: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The type of the message, such as `event.DraftSaved`.
        public let on: String
        /// What fields of its data must be, as a rule's.
        public let fields: [String: Flow.Match]

        /// Declares an answer.
        public init(_ on: String, where fields: [String: Flow.Match] = [:]) {
            self.on = on
            self.fields = fields
        }

        /// Takes every message of a type.
        public init(stringLiteral on: String) {
            self.init(on)
        }
    }

    /// What becomes of commands that a rule matches while an attempt waits.
    public enum Meanwhile: String, Hashable, Sendable, CaseIterable {
        /// They are discarded, visibly.
        case drop
        /// They are held back and met in their order afterwards.
        case queue
        /// They are met at once; one that a guarded rule matches takes the place of the attempt.
        case supersede
    }
}

/// A guarded rule that has matched a message and waits for the answer.
///
/// It stands in the state, so a view can show that something is going on, and a host that was killed goes on waiting.
public struct Attempt: Codable, Hashable, Sendable {
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
