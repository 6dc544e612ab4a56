/// Finds what is surely a mistake in a flow that can be used.
struct FlowReviewer {
    let flow: Flow
    let graph: FlowGraph
    /// The screens that send each command.
    let senders: [String: Set<String>]
    private(set) var problems: [FlowChecker.Problem] = []

    /// - Parameter isWhole: Whether all that the flow names is there: else nothing is said about what leads where.
    static func problems(
        of flow: Flow, _ messages: MessageCatalogue?, isWhole: Bool = true
    ) -> [FlowChecker.Problem] {
        var reviewer = FlowReviewer(flow: flow)
        reviewer.reviewRules()
        if let messages { reviewer.review(messages) }
        if isWhole { reviewer.reviewGraph() }
        return reviewer.problems
    }

    private init(flow: Flow) {
        self.flow = flow
        graph = flow.graph
        senders = flow.senders
    }

    mutating func warn(_ message: String, at place: String, see other: String? = nil) {
        problems.append(
            FlowChecker.Problem(place: place, message: message, severity: .warning, other: other))
    }

    mutating func note(_ message: String, at place: String) {
        problems.append(FlowChecker.Problem(place: place, message: message, severity: .note))
    }
}
