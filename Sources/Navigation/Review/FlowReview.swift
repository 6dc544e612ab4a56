/// What a reader who knows flows would say of one: all that is wrong, and all that is surely a mistake.
public struct FlowReview: Hashable, Sendable {
    /// The flow; nil when it cannot be used.
    public let flow: Flow?
    /// Errors, warnings and notes, from the file's beginning to its end.
    public let findings: [FlowFinding]

    /// What makes the flow unusable.
    public var errors: [FlowFinding] { findings.filter { $0.severity == .error } }

    /// What is surely a mistake in a flow that works.
    public var warnings: [FlowFinding] { findings.filter { $0.severity == .warning } }
}

extension Flow {
    /// Reads a flow from YAML, and says everything that is to be said about it.
    ///
    /// - Parameters:
    ///   - yaml: The text of the file.
    ///   - file: The name of the file as findings shall call it.
    ///   - messages: Those that the app has; without it nothing is said about messages that there are not.
    public static func review(yaml: String, file: String, messages: MessageCatalogue? = nil) -> FlowReview {
        var reading = FlowReading(yaml: yaml, file: file)
        let isValid = reading.findings.isEmpty
        // What was left out could not be read: a rule of which half is known looks like any other's twin.
        if reading.isComplete, let flow = reading.flow {
            // A name that is mistyped makes what it means unreachable.
            reading.report(FlowReviewer.problems(of: flow, messages, isWhole: isValid))
        }
        return FlowReview(flow: isValid ? reading.flow : nil, findings: reading.findings)
    }

    /// What is surely a mistake in a flow that was built in Swift, as a team's tests may demand that there is none.
    ///
    /// - Parameter messages: Those that the app has; without it nothing is said about messages that there are not.
    public func review(messages: MessageCatalogue? = nil) -> [FlowFinding] {
        FlowReviewer.problems(of: self, messages).map { FlowFinding(source: "flow \(name)", problem: $0) }
    }
}
