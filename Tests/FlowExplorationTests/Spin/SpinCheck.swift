import FlowFiles
import Navigation
import Support

@testable import FlowExploration

/// A flow that both spin and an exploration have searched.
struct SpinCheck {
    let stateCount: Int
    /// What they say differently, a line each.
    private(set) var differences: [String] = []
    private let model: PromelaModel

    /// The flow and its model.
    var report: String { "\(model.flow.yaml)\n\(model.text)" }

    /// - Parameter range: The numbers of states with which a flow is of interest. Nil is the result for other flows.
    init?(_ flow: Flow, in range: ClosedRange<Int> = 1...100_000) async throws {
        var explorer = FlowExplorer([flow], limit: range.upperBound)
        let exploration = explorer.explore()
        if !range.contains(exploration.stateCount) { return nil }
        model = try PromelaModel(flow)
        let search = try await SpinSearch(model)
        stateCount = exploration.stateCount
        let coverage = exploration.coverages[0]
        compare("number of states", search.storedCount, stateCount)
        compare("unreached screens", search.unreachedScreens, coverage.unreachedScreens)
        compare("rules that never apply", search.unusedPlaces, coverage.unusedPlaces)
        compare("rules that always fail", search.failingPlaces, coverage.failingPlaces)
        let violated = explorer.findings(in: 0).filter { $0.problem.code == .violatedProperty }.map(\.problem.keyPath)
        compare("violated properties", search.violatedProperties, violated)
        try compareGraphs(search, explorer)
    }

    private mutating func compareGraphs(_ search: SpinSearch, _ explorer: FlowExplorer) throws {
        let states = Set(try explorer.states.map { try model.text(of: $0.machines[0].state) })
        compareSets("states", search.states, states)
        var steps: Set<String> = []
        for former in explorer.states.map(\.machines) {
            for occurrence in explorer.occurrences(in: former) {
                var machines = [Machine(exploring: former[0], flow: model.flow)]
                _ = explorer.handle(occurrence, &machines)
                let next = ExploredMachine(machines[0], after: former[0])
                if next == former[0] { continue }
                let name = try model.text(of: next.state)
                let end = states.contains(name) ? name : "a state at the bounds"
                steps.insert("\(occurrence.input.type): \(try model.text(of: former[0].state)) to \(end)")
            }
        }
        compareSets("steps", search.steps, steps)
    }

    private mutating func compare<Value: Equatable>(_ name: String, _ spin: Value, _ exploration: Value) {
        if spin != exploration { differences.append("\(name): spin \(spin), exploration \(exploration)") }
    }

    private mutating func compareSets(_ name: String, _ spin: Set<String>, _ exploration: Set<String>) {
        for (source, only) in [
            ("spin", spin.subtracting(exploration)), ("the exploration", exploration.subtracting(spin)),
        ] {
            if let first = only.min() {
                differences.append("\(name): only \(source) has \(only.count), such as \(first)")
            }
        }
    }
}
