extension Flow {
    /// A rule: on a message, if its fields and the state match, take these actions as one step.
    public struct Transition: Hashable, Sendable {
        /// The type of the message, such as `event.LaunchFinished`.
        public let on: String
        /// What fields of the message's data must be, by dotted path.
        public let fields: [String: Match]
        /// Conditions on the state that must all hold.
        public let when: [Condition]
        /// Conditions on the state of which none may hold.
        public let unless: [Condition]
        /// Whose messages it answers.
        public let origin: Origin
        /// What has to be answered before it does anything.
        public let `guard`: Guard?
        /// What it does, in order. Either all of it happens or, when an action cannot be taken, none.
        public let actions: [Action]
        /// What attempts know a guarded rule by; other rules have no name.
        private(set) var name: String?

        /// Declares a rule.
        public init(
            on: String,
            where fields: [String: Match] = [:],
            when: [Condition] = [],
            unless: [Condition] = [],
            origin: Origin = .any,
            guard condition: Guard? = nil,
            do actions: [Action]
        ) {
            self.on = on
            self.fields = fields
            self.when = when.sorted { $0.place.rawValue < $1.place.rawValue }
            self.unless = unless.sorted { $0.place.rawValue < $1.place.rawValue }
            self.origin = origin
            self.actions = actions
            self.guard = condition
            name = condition?.name(ofRule: json)
        }
    }

    /// Whose messages a rule answers.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        /// Everyone's: all platforms of a session follow its events.
        case any
        /// Those of the flow's own platform, and those of no platform at all, which a service or a tool sent.
        case own
    }
}
