internal import FlowReview
internal import Navigation
internal import Support

/// Finds out which mistakes in a flow its scenarios show, and adds scenarios for the others.
package struct MutantSearch {
    /// The scenarios, with those that were added.
    package private(set) var stories: [Story]
    /// The number of mutants that a scenario shows.
    package private(set) var foundCount = 0
    /// The number of mutants that do the same as the flow in each explored state.
    package private(set) var equalCount = 0
    /// The mutants that do something else, which no scenario shows.
    package private(set) var missed: [FlowMutant] = []

    private let explorer: FlowExplorer
    private var scenarios: [Scenario]

    /// The number of differences for which a scenario is tried.
    private static let trialLimit = 64

    /// - Parameters:
    ///   - stories: The scenarios of a flow.
    ///   - explorer: An exploration of the flow alone.
    package init(_ stories: [Story], _ explorer: FlowExplorer) throws {
        (self.stories, self.explorer) = (stories, explorer)
        scenarios = try stories.map { try Scenario(yaml: $0.text, file: "scenario", flow: explorer.flows[0]) }
    }

    /// Tries a mutant of the flow.
    package mutating func add(_ mutant: FlowMutant) throws {
        if scenarios.contains(where: mutant.fails) {
            foundCount += 1
            return
        }
        var trials = 0
        for origin in explorer.origins(ofDifferencesFrom: mutant.flow) {
            let story = explorer.story(of: origin, in: 0)
            let scenario = try Scenario(yaml: story.text, file: "scenario", flow: explorer.flows[0])
            if story.isExact, mutant.fails(scenario) {
                foundCount += 1
                stories.append(story)
                scenarios.append(scenario)
                return
            }
            trials += 1
            if trials == Self.trialLimit { break }
        }
        if trials == 0 { equalCount += 1 } else { missed.append(mutant) }
    }
}

extension FlowMutant {
    fileprivate func fails(_ scenario: Scenario) -> Bool {
        scenario.play(on: flow).contains { !$0.failures.isEmpty }
    }
}

extension FlowExplorer {
    /// What leads to something else in another flow with the same screens, from each of the states. The states that are
    /// nearest to the first come first.
    fileprivate func origins(ofDifferencesFrom other: Flow) -> some Sequence<Exploration.Origin> {
        states.indices.lazy.flatMap { state in
            occurrences(in: states[state].machines).enumerated().lazy.filter { _, occurrence in
                differs(other, after: occurrence, in: states[state].machines)
            }.map { Exploration.Origin(state: state, occurrence: $0.offset) }
        }
    }

    private func differs(_ other: Flow, after occurrence: Occurrence, in former: [ExploredMachine]) -> Bool {
        var machines = zip(flows, former).map { Machine(exploring: $1, flow: $0) }
        let inputs = handle(occurrence, &machines)
        var machine = Machine(exploring: former[0], flow: flows[0])
        var changed = Machine(exploring: former[0], flow: other)
        for input in inputs {
            if Told(machine.handle(input)).words != Told(changed.handle(input)).words { return true }
        }
        return (machine.revision > 0 || changed.revision > 0)
            && ExploredMachine(machine, after: former[0]) != ExploredMachine(changed, after: former[0])
    }
}
