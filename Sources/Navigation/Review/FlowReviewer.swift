/// Finds what is surely a mistake in a flow that can be used.
struct FlowReviewer {
    let flow: Flow
    let graph: FlowGraph
    private(set) var problems: [FlowChecker.Problem] = []

    init(flow: Flow) {
        self.flow = flow
        graph = flow.graph
    }

    /// Looks at rules beside each other.
    mutating func reviewRules() {}

    /// Looks at where screens can stand, and what leads to them.
    mutating func reviewGraph() {}

    mutating func warn(_ message: String, at place: String, see other: String? = nil) {
        problems.append(
            FlowChecker.Problem(place: place, message: message, severity: .warning, other: other))
    }
}
