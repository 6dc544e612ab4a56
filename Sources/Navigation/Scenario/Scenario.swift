/// A story that is told to a flow, message by message, and what shall come of each: the test of a flow.
public struct Scenario: Hashable, Sendable {
    /// The name of its file, as outcomes call it.
    public let file: String
    /// What happens, in order.
    public let steps: [Step]

    /// Tells the story to a session that begins with it.
    ///
    /// - Parameters:
    ///   - flow: The flow.
    ///   - keepsGoing: Whether it goes on after a step that did not lead to what was expected.
    /// - Returns: What came of each step, up to the first that failed unless it keeps going.
    public func play(on flow: Flow, keepsGoing: Bool = false) -> [Outcome] {
        var run = ScenarioRun(of: flow)
        var outcomes: [Outcome] = []
        for step in steps {
            outcomes.append(run.take(step))
            if !keepsGoing, outcomes.last?.failures.isEmpty == false { break }
        }
        return outcomes
    }
}
