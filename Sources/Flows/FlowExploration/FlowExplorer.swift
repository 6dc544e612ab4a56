package import FlowReview
package import Navigation
internal import Support

/// Walks through all states to which messages can lead a session, from its first state. The states nearest to the first
/// come first.
///
/// A session has one machine for each platform. All machines receive all messages. A command that a flow sends arrives
/// before the next message.
package struct FlowExplorer {
    /// The maximum number of commands that flows send because of one message.
    static let sendLimit = 16

    /// The number of instances of one screen on one path above which no states are explored.
    package static let repetitionLimit = 3

    /// The size of an instance's arguments in bytes of JSON above which no states are explored.
    static let argumentLimit = 1024

    /// The number of messages that a guard holds back above which no states are explored.
    static let queueLimit = 2

    let flows: [Flow]
    private let platforms: [PlatformOccurrences]
    /// What can happen in every state: messages of services and of other platforms, with all data that the flows
    /// distinguish.
    private let anyTime: [Occurrence]
    private let limit: Int
    /// The states of the session: for each, the states of the machines.
    private var states: [[ExploredMachine]] = []
    private var numbers: [[ExploredMachine]: Int] = [:]
    private var origins: [Exploration.Origin] = []
    /// The ways that lead on from each state, other than URLs. Nil for a state of which not all are explored.
    private var exits: [[Exit]?] = []
    private(set) var exploration: Exploration

    /// - Parameters:
    ///   - flows: The flows of different platforms.
    ///   - catalogue: The messages of the app, which tell the values of their fields.
    ///   - hasOthers: True if the session may have further platforms, which send any command that a rule answers from
    ///     them.
    ///   - openScreens: The screens that may send further commands than those that they declare.
    ///   - limit: The number of states after which the exploration ends.
    package init(
        _ flows: [Flow], messages catalogue: MessageCatalogue = MessageCatalogue([:]), hasOthers: Bool = false,
        openScreens: Set<String> = [], limit: Int = 100_000
    ) {
        self.flows = flows.map(\.tellingRules)
        self.limit = limit
        let values = MessageValues(of: flows, catalogue)
        var exploration = Exploration(of: flows)
        func data(_ type: String) -> [MessageValues.Choice] {
            let (data, areAll) = values.choices(of: type)
            if !areAll { exploration.meet(.values(type: type)) }
            return data
        }
        platforms = flows.map { flow in PlatformOccurrences(of: flow, values) { data($0) } }
        var anyTime = Set(flows.flatMap(\.serviceTypes)).sorted().flatMap { type in
            // A rule may ask for the platform of an event.
            let isOwn = flows.contains { $0.asksForOrigin(of: type) }
            let origins = isOwn ? flows.map(\.platform) + (hasOthers ? ["others"] : []) : []
            return data(type).flatMap { choice in
                ([nil] + origins).map { Occurrence(.service, type, choice.data, platform: $0) }
            }
        }
        if hasOthers {
            anyTime += Set(flows.flatMap(\.commandsOfOthers)).sorted().flatMap { type in
                data(type).map { Occurrence(.service, type, $0.data, platform: "others") }
            }
        }
        for screen in openScreens { exploration.meet(.openScreen(screen)) }
        for pattern in platforms.flatMap(\.unknownPatterns) { exploration.meet(.link(pattern: pattern)) }
        if flows.contains(where: { !$0.requests.isEmpty }) { exploration.meet(.requests) }
        (self.anyTime, self.exploration) = (anyTime, exploration)
    }

    private struct Exit {
        let state: Int32
        let isLaunch: Bool
    }

    package mutating func explore() -> Exploration {
        add(flows.map { ExploredMachine(Machine(flow: $0)) }, from: Exploration.Origin.start)
        var number = 0
        while number < states.count, states.count <= limit {
            expand(number)
            number += 1
        }
        exploration.stateCount = states.count
        if number < states.count { exploration.meet(.states) }
        return exploration
    }

    /// Lets everything happen that can happen in a state.
    private mutating func expand(_ number: Int) {
        let former = states[number]
        var exits: [Exit]? = []
        for (index, occurrence) in occurrences(in: former).enumerated() {
            let origin = Exploration.Origin(state: number, occurrence: index)
            var machines = zip(flows, former).map { Machine(exploring: $1, flow: $0) }
            let turn = handle(occurrence, &machines)
            exploration.messageCount += 1
            for (index, outcome) in turn.outcomes.enumerated() {
                exploration.coverages[index].record(outcome, origin)
                guard outcome.hasEffect else { continue }
                exploration.coverages[index].record(
                    FlowStep(
                        screen: former[index].state.top.screen, cause: occurrence.cause,
                        next: machines[index].state.top.screen, tells: outcome.tells.sorted()))
            }
            if occurrence.isNamed { recordAnswer(occurrence.input, origin, turn) }
            if turn.isCut { exploration.meet(.sends) }
            guard machines.contains(where: { $0.revision > 0 }) else { continue }
            let state = zip(machines, former).map { ExploredMachine($0, after: $1) }
            if state == former { continue }
            exploration.transitionCount += 1
            let successor = add(state, from: origin)
            if occurrence.kind == .link { continue }
            if let successor {
                exits?.append(Exit(state: Int32(successor), isLaunch: occurrence.kind == .launch))
            } else {
                exits = nil
            }
        }
        self.exits[number] = exits
    }

    /// All that can happen in a state of the session.
    private func occurrences(in states: [ExploredMachine]) -> [Occurrence] {
        zip(platforms, states).flatMap { $0.all(in: $1) } + anyTime
    }

    /// Records whether a message that answers attempts has an effect.
    private mutating func recordAnswer(_ input: Machine.Input, _ origin: Exploration.Origin, _ turn: Turn) {
        for (index, machine) in states[origin.state].enumerated() {
            guard let attempt = machine.state.attempts.first(where: { $0.id == input.attributes.causationID }) else {
                continue
            }
            exploration.coverages[index].record(
                FlowCoverage.Answer(rule: attempt.rule, type: input.type, data: input.data),
                hasEffect: turn.outcomes[index].hasEffect, origin)
        }
    }

    /// What an occurrence leads to at once.
    private struct Turn {
        /// The message of the occurrence, and the commands that flows send because of it.
        var inputs: [Machine.Input]
        /// For each machine, what it has done with all of them.
        var outcomes: [FlowCoverage.Outcome]
        /// True if there are further commands.
        var isCut = false
    }

    /// Passes a message to all machines, and the commands that their flows send because of it.
    private func handle(_ occurrence: Occurrence, _ machines: inout [Machine]) -> Turn {
        var turn = Turn(inputs: [occurrence.input], outcomes: machines.map { _ in FlowCoverage.Outcome() })
        var count = 0
        while count < turn.inputs.count {
            let input = turn.inputs[count]
            count += 1
            for index in machines.indices {
                // A rule may be applied many times because of one message, and fail once.
                var places: [String] = []
                var failures: [String: NavigationFailure] = [:]
                for effect in machines[index].handle(input) {
                    switch effect {
                    case .applied(let place): places.append(place)
                    case .failed(let error):
                        if let place = places.last { failures[place] = error }
                    case .began, .messageDiscarded: break
                    case .send(let type, let data) where flows.contains { $0.messageTypes.contains(type) }:
                        turn.outcomes[index].hasEffect = true
                        turn.outcomes[index].tells.insert("sends \(type)")
                        guard turn.inputs.count <= Self.sendLimit else {
                            turn.isCut = true
                            continue
                        }
                        let attributes = Machine.Attributes(platform: flows[index].platform, causationID: input.id)
                        turn.inputs.append(
                            Machine.Input(
                                id: "\(occurrence.input.id)-\(turn.inputs.count)", type: type, data: data,
                                attributes: attributes))
                    case .send(let type, _), .ask(_, let type, _, _, _):
                        turn.outcomes[index].hasEffect = true
                        turn.outcomes[index].tells.insert("sends \(type)")
                    case .openURL:
                        turn.outcomes[index].hasEffect = true
                        turn.outcomes[index].tells.insert("opens a URL")
                    default: turn.outcomes[index].hasEffect = true
                    }
                }
                if turn.inputs.count > 1 {
                    turn.outcomes[index].screens.formUnion(machines[index].state.open.map(\.screen))
                }
                turn.outcomes[index].places += Set(places)
                turn.outcomes[index].failures += failures.map { ($0, $1) }
            }
        }
        for (index, machine) in machines.enumerated() where machine.revision > 0 {
            turn.outcomes[index].hasEffect = true
        }
        return turn
    }

    /// - Returns: The number of the state. Nil for a state that is not explored.
    @discardableResult
    private mutating func add(_ state: [ExploredMachine], from origin: Exploration.Origin) -> Int? {
        if let number = numbers[state] { return number }
        let limits = state.flatMap(\.state.limits)
        limits.forEach { exploration.meet($0) }
        guard limits.isEmpty else { return nil }
        let number = states.count
        numbers[state] = number
        states.append(state)
        origins.append(origin)
        exits.append(nil)
        for (index, machine) in state.enumerated() {
            for instance in machine.state.open { exploration.coverages[index].reach(instance.screen) }
        }
        return number
    }
}

// Questions about the states that were found.
extension FlowExplorer {
    /// The first state from which only states follow in which gates of a flow are open. Nil if there is none.
    /// - Returns: The number of the state, and the gates.
    func endlessGate(of flow: Int) -> (state: Int, gates: [String])? {
        let screens = flows[flow].screens
        func gates(_ state: [ExploredMachine]) -> [String] {
            state[flow].state.open.map(\.screen).filter { screens[$0]?.gate == true }
        }
        guard screens.values.contains(where: \.gate) else { return nil }
        return firstState { gates($0).isEmpty }.map { ($0, gates(states[$0])) }
    }

    /// A screen that the user cannot leave any more.
    struct Trap {
        /// The first state from which on the screen stays.
        let state: Int
        let screen: String
        /// True if it stays in front. Otherwise screens over it come and go.
        let isInFront: Bool
        let isPresented: Bool
    }

    /// The screens of a flow that the user cannot leave, other than by a new launch or a URL: those that stay in front
    /// although no command that they send has an effect, and those that stay presented. Not the screen with which the
    /// app begins.
    func traps(of flow: Int) -> [Trap] {
        func state(_ number: Int) -> NavigationState { states[number][flow].state }
        func front(_ state: [ExploredMachine]) -> Set<String> { Set(state[flow].state.active.map(\.screen)) }
        func presented(_ state: [ExploredMachine]) -> Set<String> {
            Set(state[flow].state.presentations.map(\.instance.screen))
        }
        let answered = Set(
            exploration.coverages[flow].steps.filter { !$0.tells.isEmpty || $0.cause.begins(with: "command.") }
                .map(\.screen))
        var found: [Trap] = []
        for screens in Set(states.map(front)) where screens != [flows[flow].start] {
            let first = firstState(where: { front($0) == screens }, launches: false) { front($0) != screens }
            guard let first, case let screen = state(first).top.screen, !answered.contains(screen) else { continue }
            let isPresented = presented(states[first]).contains(screen)
            found.append(Trap(state: first, screen: screen, isInFront: true, isPresented: isPresented))
        }
        let known = Set(found.map(\.screen))
        for screen in states.reduce(into: Set<String>(), { $0.formUnion(presented($1)) }).subtracting(known) {
            let first = firstState(where: { presented($0).contains(screen) }, launches: false) {
                !presented($0).contains(screen)
            }
            if let first { found.append(Trap(state: first, screen: screen, isInFront: false, isPresented: true)) }
        }
        return found.sorted { ($0.screen, $0.state) < ($1.screen, $1.state) }
    }

    /// The first state from which on the platforms have different roots, which both know: for example, one is logged out
    /// and the other is not. Nil if there is none.
    /// - Returns: The number of the state, and the roots.
    func disagreement() -> (state: Int, roots: [String])? {
        func roots(_ state: [ExploredMachine]) -> [String] { state.map(\.state.root.instance.screen) }
        let known = flows.indices.map { flow in Set(states.map { $0[flow].state.root.instance.screen }) }
        let common = known.dropFirst().reduce(known[0]) { $0.intersection($1) }
        let state = firstState(launches: false) { state in
            let roots = roots(state)
            return Set(roots).count == 1 || !common.isSuperset(of: roots)
        }
        return state.map { ($0, roots(states[$0])) }
    }

    /// True if a property of a flow is about some state.
    func isMeant(_ property: Flow.Property, in flow: Int) -> Bool {
        states.contains { property.concerns($0[flow].state) }
    }

    /// The first state for which a property of a flow does not hold. Nil if there is none.
    func violation(of property: Flow.Property, in flow: Int) -> Int? {
        func first(where isWrong: (NavigationState) -> Bool) -> Int? {
            states.indices.first { property.concerns(states[$0][flow].state) && isWrong(states[$0][flow].state) }
        }
        return switch property.kind {
        case .always: first { !property.holds(in: $0) }
        case .never: first { property.holds(in: $0) }
        case .canReach:
            firstState {
                property.concerns($0[flow].state)
            } neverReaching: {
                property.holds(in: $0[flow].state)
            }
        }
    }

    /// The first state that fulfils a condition, and from which no state follows that fulfils another one. Nil if there
    /// is none.
    /// - Parameter launches: True if launches count as ways that lead on.
    private func firstState(
        where isMeant: ([ExploredMachine]) -> Bool = { _ in true }, launches: Bool = true,
        neverReaching goal: ([ExploredMachine]) -> Bool
    ) -> Int? {
        var predecessors = [[Int32]](repeating: [], count: states.count)
        for (state, exits) in exits.enumerated() {
            for exit in exits ?? [] where launches || !exit.isLaunch {
                predecessors[Int(exit.state)].append(Int32(state))
            }
        }
        // Anything may follow a state of which not all that follows is explored.
        var waiting = states.indices.filter { exits[$0] == nil || goal(states[$0]) }
        var reaches = [Bool](repeating: false, count: states.count)
        for state in waiting { reaches[state] = true }
        while let state = waiting.popLast() {
            for former in predecessors[state].map(Int.init) where !reaches[former] {
                reaches[former] = true
                waiting.append(former)
            }
        }
        return states.indices.first { !reaches[$0] && isMeant(states[$0]) }
    }

    /// The shortest story that leads to a state, as one of the flows sees it.
    package func story(to state: Int, in flow: Int) -> Story {
        var origins: [Exploration.Origin] = []
        var state = state
        while state > 0 {
            origins.append(self.origins[state])
            state = self.origins[state].state
        }
        return story(of: origins.reversed(), in: flow)
    }

    /// The shortest story that ends with something that happened in a state, as one of the flows sees it.
    package func story(of origin: Exploration.Origin, in flow: Int) -> Story {
        var origins = [origin]
        while let first = origins.first?.state, first > 0 { origins.insert(self.origins[first], at: 0) }
        return story(of: origins, in: flow)
    }

    private func story(of origins: [Exploration.Origin], in flow: Int) -> Story {
        var writer = StoryWriter(flows[flow])
        for origin in origins {
            let former = states[origin.state]
            let occurrence = occurrences(in: former)[origin.occurrence]
            var machines = zip(flows, former).map { Machine(exploring: $1, flow: $0) }
            let inputs = handle(occurrence, &machines).inputs
            writer.add(occurrence, sending: inputs.dropFirst())
            writer.check(machines[flow])
        }
        return writer.story
    }
}

extension NavigationState {
    /// The limits beyond which the state is.
    fileprivate var limits: [ExplorationLimit] {
        let stacks = paths.map { self[$0] } + [presentations.map(\.instance)]
        let repeated = stacks.filter { $0.count > FlowExplorer.repetitionLimit }.flatMap { stack in
            Dictionary(grouping: stack, by: \.screen).filter { $1.count > FlowExplorer.repetitionLimit }.keys
        }
        let isLarge = open.filter { $0.argumentSize > FlowExplorer.argumentLimit }
        let isQueueLong = attempts.contains { $0.queue.count > FlowExplorer.queueLimit }
        return repeated.map { .repetition(screen: $0) } + isLarge.map { .arguments(screen: $0.screen) }
            + (isQueueLong ? [.queue] : [])
    }
}
