public import Support

extension Flow {
    /// A question that stands between a rule and what it does.
    ///
    /// The rule's actions are taken when the accepting answer comes; until then an ``PendingGuard`` waits in the state. An
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
