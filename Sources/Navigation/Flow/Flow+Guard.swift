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

extension Flow.Transition {
    /// All that the rule may do, whatever the answer to its guard; the question is a command among them.
    public var possibleActions: [Flow.Action] {
        let question = `guard`?.ask.map { [Flow.Action.send($0.type, data: $0.data)] } ?? []
        return question + actions + (`guard`?.rejected ?? []) + (`guard`?.expired ?? [])
    }

    fileprivate func asks(like other: Flow.Transition) -> Bool {
        guard let condition = `guard`, let otherCondition = other.guard else { return false }
        return on == other.on && fields == other.fields && when == other.when && unless == other.unless
            && origin == other.origin && condition.ask == otherCondition.ask
    }

    /// The types of the messages that the rule has to hear.
    var messageTypes: [String] {
        guard let condition = `guard` else { return [on] }
        return [on, condition.accept.on, Machine.deadlinePassed] + (condition.reject.map { [$0.on] } ?? [])
    }
}

extension Flow {
    /// The rules that wait for answers, also those of child flows.
    public var guardedRules: [Transition] { allTransitions.filter { $0.guard != nil } }

    /// The guarded rule that an attempt names.
    func rule(of attempt: Attempt, in state: NavigationState) -> Transition? {
        candidates(of: attempt, in: state).first { $0.guard != nil && $0.name == attempt.rule }
    }

    /// The rules that put the same question on the same occasion as an attempt's, in their order and with that one: the
    /// answer decides between them.
    func rules(of attempt: Attempt, in state: NavigationState) -> [Transition] {
        guard let rule = rule(of: attempt, in: state) else { return [] }
        return candidates(of: attempt, in: state).filter { $0.asks(like: rule) }
    }

    /// Several child flows may ask the same: an attempt's rules are of the flow of its run.
    private func candidates(of attempt: Attempt, in state: NavigationState) -> [Transition] {
        guard let run = attempt.run else { return transitions }
        return state.run(run).flatMap { flows[$0.flow]?.transitions } ?? []
    }
}
