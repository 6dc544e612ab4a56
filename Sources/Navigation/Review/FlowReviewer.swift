/// Finds what is surely a mistake in a flow that can be used.
struct FlowReviewer {
    let flow: Flow
    let graph: FlowGraph
    /// The screens that send each command.
    let senders: [String: Set<String>]
    private(set) var problems: [FlowChecker.Problem] = []

    init(flow: Flow) {
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
