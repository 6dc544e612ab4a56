package import FlowReview
package import Navigation
internal import Support

/// Walks through all states to which messages can lead a session, from its first state. The states nearest to the first
/// come first.
///
/// A session has one machine for each platform. All machines receive all messages.
package struct FlowExplorer {
    /// The maximum number of commands that flows send because of one message.
    private static let sendLimit = 16

    /// The number of instances of one screen on one path above which no states are explored.
    package static let repetitionLimit = 3

    private let flows: [Flow]
    private let occurrences: [Occurrences]
    /// The messages of services, with all data that the flows distinguish.
    private let services: [Occurrence]
    private let limit: Int
    /// The states of the session: for each, the states of the machines.
    private var states: [[NavigationState]] = []
    private var numbers: [[NavigationState]: Int] = [:]
    private var origins: [Exploration.Origin] = []
    /// The states that follow each state, other than by a new launch or a URL.
    private var successors: [[Int32]] = []
    private var exploration: Exploration

    /// - Parameters:
    ///   - flows: The flows of different platforms.
    ///   - catalogue: The messages of the app, which tell the values of their fields.
    ///   - limit: The number of states after which the exploration ends.
    package init(_ flows: [Flow], messages catalogue: MessageCatalogue = MessageCatalogue([:]), limit: Int = 100_000) {
        self.flows = flows.map(\.tellingRules)
        self.limit = limit
        let values = MessageValues(of: flows, catalogue)
        var shortened: Set<String> = []
        func data(_ type: String) -> [MessageValues.Choice] {
            let (data, areAll) = values.choices(of: type)
            if !areAll { shortened.insert(type) }
            return data
        }
        occurrences = flows.map { flow in Occurrences(of: flow) { data($0) } }
        services = Set(flows.flatMap(\.serviceTypes)).sorted().flatMap { type in
            data(type).map { Occurrence(.service, type, $0.data) }
        }
        exploration = Exploration(of: flows, shortened: shortened.sorted())
    }

    package mutating func explore() -> Exploration {
        add(flows.map { Machine(flow: $0).state.explored(on: $0.platform) }, from: Exploration.Origin.start)
        var number = 0
        while number < states.count, states.count <= limit {
            leave(number)
            number += 1
        }
        exploration.stateCount = states.count
        exploration.isCut = number < states.count
        return exploration
    }

    /// The first state of a flow whose gates are open in all states that can follow. Nil if there is none.
    package func endlessGate(of flow: Int) -> (story: Story, gates: [String])? {
        let screens = flows[flow].screens
        func gates(_ state: [NavigationState]) -> [String] {
            state[flow].open.map(\.screen).filter { screens[$0]?.gate == true }
        }
        guard screens.values.contains(where: \.gate) else { return nil }
        var predecessors = [[Int32]](repeating: [], count: states.count)
        for (state, next) in successors.enumerated() {
            for successor in next { predecessors[Int(successor)].append(Int32(state)) }
        }
        var waiting = states.indices.filter { gates(states[$0]).isEmpty }
        var passes = [Bool](repeating: false, count: states.count)
        for state in waiting { passes[state] = true }
        while let state = waiting.popLast() {
            for former in predecessors[state].map(Int.init) where !passes[former] {
                passes[former] = true
                waiting.append(former)
            }
        }
        return passes.firstIndex(of: false).map { (Story(chapters: chapters(to: $0)), gates(states[$0])) }
    }

    /// All that can happen in a state of the session.
    private func occurrences(in states: [NavigationState]) -> [Occurrence] {
        zip(occurrences, states).flatMap { $0.all(in: $1) } + services
    }

    /// Lets everything happen that can happen in a state.
    private mutating func leave(_ number: Int) {
        let former = states[number]
        var exits: Set<Occurrence.Kind> = []
        for (index, occurrence) in occurrences(in: former).enumerated() {
            let origin = Exploration.Origin(state: number, occurrence: index)
            var machines = zip(flows, former).map { Machine(exploring: $1, flow: $0) }
            let outcomes = handle(occurrence, &machines)
            exploration.messageCount += 1
            for (index, outcome) in outcomes.enumerated() { exploration.record(outcome, of: index, origin) }
            if occurrence.isNamed { recordAnswer(occurrence.input, origin, machines) }
            guard machines.contains(where: { $0.revision > 0 }) else { continue }
            let next = machines.map { $0.state.explored(on: $0.flow.platform) }
            if next == former { continue }
            exploration.transitionCount += 1
            exits.insert(occurrence.kind)
            guard let successor = add(next, from: origin), occurrence.kind != .entrance else { continue }
            successors[number].append(Int32(successor))
        }
        if exits.isSubset(of: [.entrance]) {
            exploration.deadEnds.append(
                Exploration.DeadEnd(
                    state: number, canRestart: !exits.isEmpty, screens: former.map { $0.active.map(\.screen) }))
        }
    }

    /// Records whether a message has ended the attempts that it answers.
    private mutating func recordAnswer(_ input: Machine.Input, _ origin: Exploration.Origin, _ machines: [Machine]) {
        for (index, state) in states[origin.state].enumerated() {
            guard let attempt = state.attempts.first(where: { $0.id == input.attributes.causationID }) else { continue }
            exploration.record(
                Exploration.Answer(rule: attempt.rule, type: input.type, data: input.data),
                isOver: !machines[index].state.attempts.contains { $0.message.id == attempt.message.id }, of: index,
                origin)
        }
    }

    /// Passes a message to all machines, and the commands that their flows send because of it.
    /// - Returns: For each machine, what has happened.
    private func handle(_ occurrence: Occurrence, _ machines: inout [Machine]) -> [Exploration.Outcome] {
        var inputs = [occurrence.input]
        var outcomes = machines.map { _ in Exploration.Outcome() }
        var count = 0
        while count < inputs.count, count < Self.sendLimit {
            let input = inputs[count]
            count += 1
            for index in machines.indices {
                for effect in machines[index].handle(input) {
                    switch effect {
                    case .applied(let rule): outcomes[index].rules.append(rule)
                    case .failed(let error):
                        if let rule = outcomes[index].rules.last { outcomes[index].failures.append((rule, error)) }
                    case .began, .messageDiscarded: break
                    case .send(let type, let data) where flows.contains { $0.messageTypes.contains(type) }:
                        outcomes[index].hasEffect = true
                        let attributes = Machine.Attributes(platform: flows[index].platform, causationID: input.id)
                        inputs.append(
                            Machine.Input(
                                id: "\(input.id)-\(inputs.count)", type: type, data: data, attributes: attributes))
                    default: outcomes[index].hasEffect = true
                    }
                }
            }
        }
        for (index, machine) in machines.enumerated() where machine.revision > 0 { outcomes[index].hasEffect = true }
        return outcomes
    }

    /// - Returns: The number of the state. Nil for a state that is not explored.
    @discardableResult
    private mutating func add(_ state: [NavigationState], from origin: Exploration.Origin) -> Int? {
        if let number = numbers[state] { return number }
        let repeated = Set(state.flatMap(\.repeatedScreens))
        exploration.repeatedScreens.formUnion(repeated)
        guard repeated.isEmpty else { return nil }
        let number = states.count
        numbers[state] = number
        states.append(state)
        origins.append(origin)
        successors.append([])
        for (index, state) in state.enumerated() {
            for instance in state.open { exploration.reach(instance.screen, of: index) }
        }
        return number
    }

    /// The shortest story that leads to a dead end.
    package func story(of end: Exploration.DeadEnd) -> Story { Story(chapters: chapters(to: end.state)) }

    /// The shortest story that ends with something that happened in a state.
    package func story(of origin: Exploration.Origin) -> Story {
        let former = states[origin.state]
        let last = Story.Chapter(occurrence: occurrences(in: former)[origin.occurrence], states: former)
        return Story(chapters: chapters(to: origin.state) + [last])
    }

    private func chapters(to state: Int) -> [Story.Chapter] {
        var chapters: [Story.Chapter] = []
        var state = state
        while state > 0 {
            let origin = origins[state]
            let occurrence = occurrences(in: states[origin.state])[origin.occurrence]
            chapters.append(Story.Chapter(occurrence: occurrence, states: states[state]))
            state = origin.state
        }
        return chapters.reversed()
    }
}

extension NavigationState {
    /// The screens with more instances on one path than are explored.
    fileprivate var repeatedScreens: [String] {
        let stacks = paths.map { self[$0] } + [presentations.map(\.instance)]
        return stacks.filter { $0.count > FlowExplorer.repetitionLimit }.flatMap { stack in
            Dictionary(grouping: stack, by: \.screen).filter { $1.count > FlowExplorer.repetitionLimit }.keys
        }
    }
}
