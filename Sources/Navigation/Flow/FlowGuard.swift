public import Support

extension Flow {
    /// A question that must be answered before a rule's actions are taken.
    ///
    /// When the rule matches a message, an attempt (``PendingGuard``) is added to the state. When the accepting answer
    /// comes and the state still fulfils the rule's conditions, the rule's actions are taken. An answer is a message
    /// whose causation id is the attempt's id. The attempt's id is the id of the command in ``ask`` or, without
    /// ``ask``, the id of the message that the rule matched.
    public struct Guard: Hashable, Sendable {
        /// The command that is sent as the question. Nil if the message that the rule matched is itself the question.
        public let ask: Ask?
        /// The answer on which the rule's actions are taken.
        public let accept: Answer
        /// The answer that ends the attempt without the rule's actions. Nil if there is none.
        public let reject: Answer?
        /// The maximum time to wait for an answer, 1 ms to 1 h. After this time the actions in ``expired`` are taken.
        public let deadline: Duration
        /// The treatment of the screen's commands, and of its other messages whose rules have a guard, while the
        /// attempt waits.
        public let meanwhile: Meanwhile
        /// The actions to take after a rejection. If there are none, the rules handle the rejecting message like any
        /// other message.
        public let rejected: [Action]
        /// The actions to take when the deadline has passed.
        public let expired: [Action]

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
    /// The command that is sent as a guard's question. Strings in its data may be templates.
    public struct Ask: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The command's type, such as `command.SaveDraft`.
        public let type: String
        /// The command's data.
        public let data: JSONValue

        public init(_ type: String, data: JSONValue = .object([:])) {
            self.type = type
            self.data = data
        }

        /// Names a command without data.
        public init(stringLiteral type: String) {
            self.init(type)
        }
    }

    /// The types and the fields of a message that answers a guard.
    public struct Answer: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The types of the message, such as `event.DraftSaved`, sorted.
        public let on: [String]
        /// Conditions on the fields of the message's data, as in a rule's `where`.
        public let fields: [String: Flow.Match]

        public init(_ types: String..., where fields: [String: Flow.Match] = [:]) {
            self.init(types, where: fields)
        }

        public init(_ types: [String], where fields: [String: Flow.Match] = [:]) {
            on = Set(types).sorted()
            self.fields = fields
        }

        /// An answer of this type, with any data.
        public init(stringLiteral type: String) {
            self.init(type)
        }
    }

    /// The parts of a guard at which something happens besides the rule's own actions: their keys in the flow.
    package enum Part: String, CaseIterable {
        case ask = "guard.ask"
        case rejected = "guard.rejected"
        case expired = "guard.expired"
    }

    /// The treatment of commands, and of other messages whose rules have a guard, that arrive while an attempt of their
    /// screen or child flow waits. A message without a sender belongs to the screen on which its own attempt would wait.
    /// Views' reports are handled at once.
    public enum Meanwhile: String, Hashable, Sendable, CaseIterable {
        /// The messages are discarded with `event.MessageDiscarded`. A command that no rule matches is ignored without
        /// this event, unless it requests an action.
        case drop
        /// The messages are queued, and handled in order after the attempt has ended. At most 16 messages with at most
        /// 64 KiB of data each are queued; a message beyond these limits is discarded with `event.MessageDiscarded`.
        case queue
        /// The messages are handled at once. If a message matches a rule with a guard, the new attempt replaces the
        /// waiting one.
        case supersede
    }
}
