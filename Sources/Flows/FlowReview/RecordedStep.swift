package import Navigation
import Support

/// A message of a recording, with the state that it led to when it was recorded.
package struct RecordedStep: Sendable {
    /// The recorded state after the message.
    package enum State: Hashable, Sendable {
        /// The recording does not contain the state.
        case unknown
        /// The message did not change the state.
        case unchanged
        case changed(NavigationSnapshot)
    }

    /// The number of the message in the recording, from 1.
    package let number: Int
    /// The line in the file, from 1.
    package let line: Int
    package let input: Machine.Input
    /// True if the message had expired when it was handled.
    package let isExpired: Bool
    package let state: State

    package init(number: Int, line: Int, _ input: Machine.Input, isExpired: Bool, state: State) {
        self.number = number
        self.line = line
        self.input = input
        self.isExpired = isExpired
        self.state = state
    }
}

extension Machine {
    /// Handles a message of a recording, and compares the state with the recorded state.
    ///
    /// If the states differ, the machine continues from the recorded state.
    package mutating func replay(_ recorded: RecordedStep) -> Scenario.Outcome {
        let former = self
        let effects = recorded.isExpired ? [recorded.input.discarded(Self.expiredReason)] : handle(recorded.input)
        let words = OutcomeWords(of: self, from: former, recorded.isExpired ? [] : [recorded.input], effects)
        let changes = ScenarioObservation(self, effects).changes(from: ScenarioObservation(former))
        let position = Scenario.Position(line: recorded.line, column: 1)
        var failures: [Scenario.Failure] = []
        if let expected = recordedMachine(recorded.state, before: former) {
            failures = differences(from: expected, at: position)
            self = expected
        }
        let message = Scenario.Message(type: recorded.input.type, data: recorded.input.data)
        return Scenario.Outcome(
            number: recorded.number, step: Scenario.Step(position: position, act: .send(message), expectation: nil),
            messages: [recorded.input], applied: effects.compactMap(\.applied), words: words, changes: changes,
            failures: failures)
    }

    /// The machine with the recorded state. Nil if the recording does not contain the state, or this machine has it.
    /// - Parameter former: The machine before the message.
    private func recordedMachine(_ state: RecordedStep.State, before former: Machine) -> Machine? {
        switch state {
        case .unknown: nil
        case .unchanged: revision == former.revision ? nil : former
        case .changed(let recorded):
            snapshot.isEqualExceptFlow(to: recorded) ? nil : Restoration(recorded, flow: flow).machine
        }
    }

    private func differences(from recorded: Machine, at position: Scenario.Position) -> [Scenario.Failure] {
        let (actual, expected) = (ScenarioObservation(self), ScenarioObservation(recorded))
        let failures = Scenario.Aspect.allCases.filter { !$0.isDerived && actual.differs(from: expected, in: $0) }.map {
            Scenario.Failure(
                position: position, aspect: $0, message: "'\($0.rawValue)' is not what was recorded",
                expected: expected[$0], found: actual[$0])
        }
        guard failures.isEmpty else { return failures }
        let message = "the state differs from the recorded state in a part that scenarios cannot describe"
        return [
            Scenario.Failure(
                position: position, aspect: nil, message: message, expected: .integer(recorded.revision),
                found: .integer(revision))
        ]
    }
}

extension Machine.Effect {
    /// The place of a rule, a part of a guard or a link that was applied. Nil for other effects.
    var applied: String? { if case .applied(let place) = self { place } else { nil } }
}

extension NavigationSnapshot {
    /// True if both snapshots are equal, apart from the identity of their flow.
    fileprivate func isEqualExceptFlow(to other: NavigationSnapshot) -> Bool {
        var other = other
        other.flow = flow
        return self == other
    }
}
