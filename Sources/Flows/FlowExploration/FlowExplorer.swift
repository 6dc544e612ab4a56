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
    /// The types that some flow answers.
    private let answered: Set<String>
    private let limit: Int
    /// The states of the session: for each, the states of the machines.
    private(set) var states: [[ExploredMachine]] = []
    private var numbers: [[ExploredMachine]: Int] = [:]
    private(set) var origins: [Exploration.Origin] = []
    /// The ways that lead on from each state, other than URLs. Nil for a state of which not all are explored.
    private(set) var exits: [[Exit]?] = []
    /// What it has found so far.
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
        answered = flows.reduce(into: []) { $0.formUnion($1.messageTypes) }
        let values = MessageValues(of: flows, catalogue)
        var exploration = Exploration(of: flows)
        func data(_ type: String) -> [MessageValues.Choice] {
            let (data, areAll) = values.choices(of: type)
            if !areAll { exploration.add(.values(type: type)) }
            return data
        }
        platforms = flows.map { flow in PlatformOccurrences(of: flow, values) { data($0) } }
        var anyTime = Set(flows.flatMap(\.serviceTypes)).sorted().flatMap { type in
            // A rule may ask for the platform of an event.
            let isOwn = flows.contains { $0.asksForOrigin(of: type) }
            let origins = isOwn ? flows.map(\.platform) + (hasOthers ? [Occurrence.otherPlatform] : []) : []
            return data(type).flatMap { choice in
                ([nil] + origins).map { Occurrence(.service, type, choice.data, platform: $0) }
            }
        }
        if hasOthers {
            anyTime += Set(flows.flatMap(\.commandsOfOthers)).sorted().flatMap { type in
                data(type).map { Occurrence(.service, type, $0.data, platform: Occurrence.otherPlatform) }
            }
        }
        for screen in openScreens { exploration.add(.openScreen(screen)) }
        for pattern in platforms.flatMap(\.unknownPatterns) { exploration.add(.link(pattern: pattern)) }
        if flows.contains(where: { !$0.requests.isEmpty }) { exploration.add(.requests) }
        (self.anyTime, self.exploration) = (anyTime, exploration)
    }

    struct Exit {
        let state: Int32
        let isLaunch: Bool
    }

    /// - Returns: What it has found.
    @discardableResult
    package mutating func explore() -> Exploration {
        add(flows.map { ExploredMachine(Machine(flow: $0)) }, from: Exploration.Origin.start)
        var number = 0
        while number < states.count, states.count <= limit {
            expand(number)
            number += 1
        }
        exploration.stateCount = states.count
        if number < states.count { exploration.add(.states) }
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
            if turn.isCut { exploration.add(.sends) }
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
    func occurrences(in states: [ExploredMachine]) -> [Occurrence] {
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
    struct Turn {
        /// The message of the occurrence, and the commands that flows send because of it.
        private(set) var inputs: [Machine.Input]
        /// For each machine, what it has done with all of them.
        private(set) var outcomes: [FlowCoverage.Outcome]
        /// True if there are further commands.
        private(set) var isCut = false

        /// The types that some flow answers.
        private let answered: Set<String>

        fileprivate init(_ input: Machine.Input, machineCount: Int, answered: Set<String>) {
            (inputs, self.answered) = ([input], answered)
            outcomes = Array(repeating: FlowCoverage.Outcome(), count: machineCount)
        }

        /// Adds what a machine has done with a message.
        fileprivate mutating func add(
            _ effects: [Machine.Effect], of index: Int, _ machine: Machine, by input: Machine.Input
        ) {
            // A rule may be applied many times because of one message, and fail once.
            var places: [String] = []
            var failures: [String: NavigationFailure] = [:]
            for effect in effects {
                switch effect {
                case .applied(let place): places.append(place)
                case .failed(let error): if let place = places.last { failures[place] = error }
                case .began, .messageDiscarded: break
                case .send(let type, let data):
                    outcomes[index].tells.insert("sends \(type)")
                    if answered.contains(type) { send(type, data, from: machine, by: input) }
                case .ask(_, let type, _, _, _): outcomes[index].tells.insert("sends \(type)")
                case .openURL: outcomes[index].tells.insert("opens a URL")
                default: outcomes[index].hasEffect = true
                }
            }
            if !outcomes[index].tells.isEmpty || machine.revision > 0 { outcomes[index].hasEffect = true }
            if inputs.count > 1 { outcomes[index].screens.formUnion(machine.state.open.map(\.screen)) }
            outcomes[index].places += Set(places)
            outcomes[index].failures += failures.map { ($0, $1) }
        }

        private mutating func send(_ type: String, _ data: JSONValue, from machine: Machine, by input: Machine.Input) {
            guard inputs.count <= FlowExplorer.sendLimit else {
                isCut = true
                return
            }
            inputs.append(
                Machine.Input(
                    id: "\(inputs[0].id)-\(inputs.count)", type: type, data: data,
                    attributes: Machine.Attributes(platform: machine.flow.platform, causationID: input.id)))
        }
    }

    /// Passes a message to all machines, and the commands that their flows send because of it.
    func handle(_ occurrence: Occurrence, _ machines: inout [Machine]) -> Turn {
        var turn = Turn(occurrence.input, machineCount: machines.count, answered: answered)
        var count = 0
        while count < turn.inputs.count {
            let input = turn.inputs[count]
            count += 1
            for index in machines.indices {
                let effects = machines[index].handle(input)
                turn.add(effects, of: index, machines[index], by: input)
            }
        }
        return turn
    }

    /// - Returns: The number of the state. Nil for a state that is not explored.
    @discardableResult
    private mutating func add(_ state: [ExploredMachine], from origin: Exploration.Origin) -> Int? {
        if let number = numbers[state] { return number }
        let limits = state.flatMap(\.state.limits)
        limits.forEach { exploration.add($0) }
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
