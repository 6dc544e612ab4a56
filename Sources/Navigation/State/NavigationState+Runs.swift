extension NavigationState {
    /// The run with this identifier.
    func run(_ id: String?) -> FlowRun? {
        runs.first { $0.id == id }
    }

    /// A run and those that it was begun in, the innermost first.
    func lineage(of id: String?) -> [FlowRun] {
        var lineage: [FlowRun] = []
        var next = run(id)
        while let run = next {
            lineage.append(run)
            next = self.run(run.parent)
        }
        return lineage
    }

    /// A run and all that were begun in it, at any depth.
    func family(of id: String) -> Set<String> {
        // Whoever begins a run stands before it in the list.
        runs.reduce(into: [id]) { family, run in
            if let parent = run.parent, family.contains(parent) { family.insert(run.id) }
        }
    }
}
