extension Scenario {
    /// What came of a step.
    public struct Outcome: Hashable, Sendable {
        /// Which step of the scenario it was, from 1.
        public let number: Int
        /// The step.
        public let step: Step
        /// The messages that it came to.
        public let messages: [Machine.Input]
        /// What changed of the state, as it is now, and what was done.
        public let changes: [Aspect: JSONValue]
        /// How that differs from what was expected; empty when it does not, or nothing was.
        public let failures: [Failure]
    }

    /// A difference between what came of a step and what was expected.
    public struct Failure: Hashable, Sendable {
        /// Where the expectation stands in the file.
        public let position: Position
        /// What differs; nil when the step could not be taken.
        public let aspect: Aspect?
        /// The difference in a few words.
        public let message: String
        /// What was expected; nil when nothing was.
        public let expected: JSONValue?
        /// What came of it.
        public let found: JSONValue?
    }
}
