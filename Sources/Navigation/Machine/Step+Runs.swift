extension Step {
    /// Begins a run of a child flow; its first instance still has to be put somewhere.
    mutating func begin(_ name: String, _ arguments: [String: JSONValue]) throws(NavigationFailure) -> ScreenInstance {
        guard let child = flow.flows[name] else { throw .unknownFlow(name) }
        var first = try instantiate(.screen(child.start, arguments))
        memory.instances += 1
        let run = FlowRun(id: "\(name)-\(memory.instances)", flow: name, first: first.id, parent: first.run)
        first.run = run.id
        state.runs.append(run)
        return first
    }

    /// The run that what is opened now belongs to: the rule's own, or, when the rule has just taken that away, the one
    /// around it.
    var livingRun: FlowRun? {
        guard scope != nil else { return nil }
        return state.lineage(of: scope).first { state.isStanding($0.first) }
    }

    /// How much of a path is not the rule's to take away: a run that was pushed on it keeps its first screen, and what
    /// lies below.
    func floor(of place: NavigationState.PathPlace) -> Int {
        // What a view asks for is done as if its user had done it, who may leave a flow.
        guard !isLiteral, let run = livingRun else { return 0 }
        return state[place].firstIndex { $0.id == run.first }.map { $0 + 1 } ?? 0
    }

    mutating func end(_ ending: Flow.Ending, result: [String: JSONValue] = [:]) throws(NavigationFailure) {
        guard let run = livingRun else { throw .noFlowRuns }
        end(run, ending, result: try resolve(result))
    }

    /// Ends the runs whose first instance is gone, whoever took it away, or will be gone in `next`.
    mutating func abandonRuns(comingTo next: NavigationState? = nil) {
        while let run = state.runs.first(where: { !(next ?? state).isStanding($0.first) }) {
            end(run, .abandoned, result: [:])
        }
    }

    /// Removes a run with all that it opened and all runs that it began; of those nobody is left to be told.
    private mutating func end(_ run: FlowRun, _ ending: Flow.Ending, result: [String: JSONValue]) {
        let family = state.family(of: run.id)
        state.runs.removeAll { family.contains($0.id) }
        dismissAll { $0.run.map(family.contains) ?? false }
        endings.append(RunEnding(run: run, ending: ending, result: result))
    }

    /// Dismisses these instances wherever they are, each with all that lies on it.
    private mutating func dismissAll(where isGone: (ScreenInstance) -> Bool) {
        if let index = state.presentations.firstIndex(where: { isGone($0.instance) }) {
            dismissPresentations(from: index)
        }
        for place in state.paths {
            guard let index = state[place].firstIndex(where: isGone) else { continue }
            dismissPresentations(over: place)
            cut(place, from: index)
        }
        guard case .split(let columns) = state.root.container else { return }
        state.root.container = .split(columns: columns.filter { !isGone($0.value.instance) })
        for (_, stack) in columns.sorted(by: { $0.key < $1.key }) where isGone(stack.instance) {
            dismiss(stack.instances)
        }
    }
}
