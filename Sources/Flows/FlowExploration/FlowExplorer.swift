package import FlowReview
package import Navigation
internal import Support

/// Walks through all states to which messages can lead a session, from its first state. The states nearest to the first
/// come first.
///
/// A session has one machine for each platform. All machines receive all messages. A command that a flow sends arrives
/// before the next message. An event of services comes at any time, unless the catalogue tells because of which messages
/// their handlers send it: then it comes after one of them, once or more often.
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
    private var anyTimeNumbers: [Int] = []
    /// What can happen in any state, by its number.
    private var occurrences = Numbering<Occurrence>()
    /// The commands that flows send.
    private var commands = Numbering<Machine.Input>()
    /// For each number of something that can happen, what must be pending for it, and what is pending afterwards.
    private var conditions: [PendingCondition] = []
    /// For each flow, the states of its machine.
    private var machines: [MachineStates]
    /// The types that some flow answers.
    let answered: Set<String>
    private let limit: Int
    private let hasOthers: Bool
    /// The messages of the app.
    let catalogue: MessageCatalogue
    /// What services send because of which messages.
    private(set) var answers: ServiceAnswers
    /// The bound events of which a rule only answers those of its own platform.
    private let ownAnswers: AnswerSet
    private(set) var states: [SessionState] = []
    /// The ways that lead beyond the bounds so far.
    private var beyond: [Beyond] = []
    private var numbers: [SessionKey: Int] = [:]
    /// The combinations of states of machines, which the states of the session have.
    private(set) var combinations: [[ExploredMachine]] = []
    private var combinationNumbers: [[Int]: Int] = [:]
    /// For each combination, the numbers of the machines' states.
    private var parts: [[Int]] = []
    /// What can happen to each combination. Empty if it has not been explored, or if no event is bound.
    private var steps: [[Step]] = []
    private(set) var origins: [Exploration.Origin] = []
    /// The ways that lead on from each state, other than URLs. Nil for a state of which not all are explored.
    private(set) var exits: [[Exit]?] = []
    /// The same, if a way that leads beyond the bounds leads to a similar state within them, with fewer instances of a
    /// screen. Nil for a state from which a way leads to no such state.
    private(set) var similarExits: [[Exit]?] = []
    /// What it has found so far.
    package private(set) var exploration: Exploration

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
        machines = flows.map { _ in MachineStates() }
        (self.limit, self.hasOthers, self.catalogue) = (limit, hasOthers, catalogue)
        let answers = ServiceAnswers(catalogue, of: flows)
        self.answers = answers
        ownAnswers = answers.types.filter { type in flows.contains { $0.asksForOrigin(of: type) } }
            .reduce(into: AnswerSet()) { $0.formUnion(answers[$1]) }
        answered = flows.reduce(into: []) { $0.formUnion($1.messageTypes) }
        let values = MessageValues(of: flows, catalogue)
        var exploration = Exploration(of: flows)
        func data(_ type: String) -> [MessageValues.Choice] {
            let (data, areAll) = values.choices(of: type)
            if !areAll { exploration.add(.values(type: type)) }
            return data
        }
        platforms = flows.map { flow in PlatformOccurrences(of: flow, values, catalogue) { data($0) } }
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

    /// A way that leads beyond the bounds of the exploration.
    private struct Beyond {
        let state: Int
        /// The numbers of the machines' states in a similar state within the bounds. Nil if there is none.
        let similar: [Int]?
        let pending: AnswerSet
        let isLaunch: Bool
        let needsOthers: Bool
    }

    struct Exit {
        let state: Int32
        let isLaunch: Bool
        /// True if only an answer to another platform leads there.
        let needsOthers: Bool
    }

    /// - Parameter progress: Called from time to time with the number of states so far.
    /// - Returns: What it has found.
    @discardableResult
    package mutating func explore(_ progress: (_ states: Int) -> Void = { _ in }) -> Exploration {
        exploration.events = answers.assumption
        let start = self
        search(progress)
        // With the pending events there are more states. If they are too many, an event may come at any time.
        if exploration.limits.contains(.states), !answers.isEmpty {
            self = start
            answers = answers.withoutTypes
            exploration.events = .unbound(start.exploration.events.types)
            search(progress)
        }
        return exploration
    }

    private mutating func search(_ progress: (Int) -> Void) {
        anyTimeNumbers = anyTime.map { self.number(of: $0) }
        let first = flows.indices.map { machines[$0].number(of: ExploredMachine(Machine(flow: flows[$0]))) }
        if let first = combination(of: first) {
            add(SessionKey(combination: first, pending: answers.first), from: .start)
        }
        var number = 0
        while number < states.count, states.count <= limit {
            expand(number)
            number += 1
            if number.isMultiple(of: 128) { progress(states.count) }
        }
        exploration.stateCount = states.count
        if number < states.count { exploration.add(.states) }
        similarExits = exits
        for way in beyond {
            exits[way.state] = nil
            if let similar = way.similar, let combination = combinationNumbers[similar],
                let state = numbers[SessionKey(combination: combination, pending: way.pending)]
            {
                similarExits[way.state]?.append(
                    Exit(state: Int32(state), isLaunch: way.isLaunch, needsOthers: way.needsOthers))
            } else {
                similarExits[way.state] = nil
            }
        }
        beyond = []
    }

    /// Lets everything happen that can happen in a state.
    private mutating func expand(_ number: Int) {
        let state = states[number]
        var steps = self.steps[state.combination]
        if steps.isEmpty { steps = self.occurrences(in: parts[state.combination]).map { Step(occurrence: $0) } }
        var exits: [Exit]? = []
        for index in steps.indices {
            let occurrence = steps[index].occurrence
            let condition = conditions[occurrence]
            guard condition.isFulfilled(by: state.pending) else { continue }
            let origin = Exploration.Origin(state: number, occurrence: index)
            exploration.messageCount += 1
            let result = steps[index].result ?? self.result(of: occurrence, in: state, origin)
            steps[index].result = result
            let (sets, needsOthers) = condition.pending(after: state.pending, result)
            for pending in sets {
                guard let next = result.next else {
                    if condition.kind != .link {
                        beyond.append(
                            Beyond(
                                state: number, similar: result.similar, pending: pending,
                                isLaunch: condition.kind == .launch, needsOthers: needsOthers))
                    }
                    continue
                }
                let key = SessionKey(combination: next, pending: pending)
                if key == SessionKey(combination: state.combination, pending: state.pending) { continue }
                exploration.transitionCount += 1
                let successor = add(key, from: origin)
                if condition.kind == .link { continue }
                // A command of another platform that changes no machine may have answers.
                let isAnswered = condition.isOthers && next == state.combination
                exits?.append(
                    Exit(
                        state: Int32(successor), isLaunch: condition.kind == .launch,
                        needsOthers: needsOthers || isAnswered)
                )
            }
        }
        self.exits[number] = exits
        if !answers.isEmpty { self.steps[state.combination] = steps }
    }

    /// The numbers of what can happen to a combination, which has the machines' states with these numbers.
    private mutating func occurrences(in parts: [Int]) -> [Int] {
        var all: [Int] = []
        for (flow, part) in parts.enumerated() {
            let known = machines[flow][part].occurrences
            let own = known ?? platforms[flow].all(in: machines[flow][part].machine).map { number(of: $0) }
            machines[flow][part].occurrences = own
            all += own
        }
        return all + anyTimeNumbers
    }

    private mutating func number(of occurrence: Occurrence) -> Int {
        let number = occurrences.number(of: occurrence)
        if number == conditions.count { conditions.append(condition(of: occurrence)) }
        return number
    }

    private func condition(of occurrence: Occurrence) -> PendingCondition {
        let (type, platform) = (occurrence.input.type, occurrence.input.attributes.platform)
        let answer = answers[type, platform]
        let isOthers = platform == Occurrence.otherPlatform
        if answer.isEmpty || occurrence.causedBy != nil {
            return PendingCondition(
                kind: occurrence.kind, answer: answer, needed: [], answersToOthers: nil, isOthers: isOthers)
        }
        // An answer has the platform of what it answers, which only matters for some.
        let canBeOthers = hasOthers && (isOthers || platform == nil && ownAnswers.isDisjoint(with: answer))
        return PendingCondition(
            kind: occurrence.kind, answer: answer, needed: isOthers ? nil : answer,
            answersToOthers: canBeOthers ? answers.accompanying(type).subtracting(ownAnswers) : nil, isOthers: isOthers)
    }

    /// What something that happens leads to.
    private mutating func result(of number: Int, in state: SessionState, _ origin: Exploration.Origin) -> Step.Result {
        let (occurrence, former) = (occurrences.values[number], parts[state.combination])
        var turn = Turn(occurrence.input)
        var handled: [Int] = []
        var reactions: [MachineStates.Reaction] = []
        // For each moment, the number of messages, and those of the places that the machines have told.
        var moments: [Turn.Moment: (count: Int, places: [Int])] = [:]
        var loop: EndlessCommands?
        while handled.count < turn.inputs.count, loop == nil {
            let input = turn.inputs[handled.count]
            handled.append(handled.isEmpty ? number : commands.number(of: input))
            reactions = flows.indices.map { reaction(of: $0, in: former[$0], to: handled, turn.inputs) }
            for (flow, reaction) in zip(flows, reactions) {
                turn.send(reaction.commands, from: flow.platform, because: input)
            }
            if handled.count == turn.inputs.count { break }
            let moment = turn.moment(after: handled.count, reactions.map(\.next))
            loop = moments[moment].map { former in
                EndlessCommands(
                    types: turn.types(in: former.count..<handled.count),
                    places: zip(reactions, former.places).map { $0.outcome.places.dropFirst($1).last }, origin: origin)
            }
            moments[moment] = (handled.count, reactions.map(\.outcome.places.count))
        }
        if let loop {
            exploration.add(loop)
        } else if turn.isCut {
            exploration.add(.sends)
        }
        for (flow, reaction) in reactions.enumerated() where !reaction.isRecorded {
            record(
                reaction.outcome, of: flow, from: machines[flow][former[flow]].machine.state,
                to: machines[flow][reaction.next].machine.state, occurrence, origin)
            machines[flow][former[flow]].reactions[handled]?.isRecorded = true
        }
        let next = reactions.map(\.next)
        let combination = combination(of: next)
        return Step.Result(
            next: combination, similar: combination == nil ? similar(to: next) : nil,
            following: following(occurrence.input, reactions),
            isConsumed: occurrence.isNamed || reactions.contains(where: \.outcome.hasEffect))
    }

    /// The events of services that may follow from a message, and from the commands that flows send because of it.
    private func following(_ input: Machine.Input, _ reactions: [MachineStates.Reaction]) -> AnswerSet {
        zip(flows, reactions).reduce(answers.following(input.type, from: input.attributes.platform)) { set, own in
            own.1.outcome.sent.reduce(set) { $0.union(answers.following($1, from: own.0.platform)) }
        }
    }

    /// What the machine of one flow does.
    /// - Parameters:
    ///   - numbers: The numbers of what happens and of the commands that follow from it.
    ///   - inputs: The messages with these numbers, and perhaps further ones.
    private mutating func reaction(
        of flow: Int, in part: Int, to numbers: [Int], _ inputs: [Machine.Input]
    ) -> MachineStates.Reaction {
        if let known = machines[flow][part].reactions[numbers] { return known }
        let former = machines[flow][part].machine
        var machine = Machine(exploring: former, flow: flows[flow])
        var outcome = FlowCoverage.Outcome()
        var commands: [Turn.Command] = []
        for input in inputs.prefix(numbers.count) {
            let effects = machine.handle(input)
            outcome.add(effects, of: machine)
            commands = effects.commands(answered: answered)
            if numbers.count > 1 { outcome.screens.formUnion(machine.state.open.map(\.screen)) }
        }
        let reaction = MachineStates.Reaction(
            next: machine.revision > 0 ? machines[flow].number(of: ExploredMachine(machine, after: former)) : part,
            outcome: outcome, commands: commands)
        // Everything happens only once to a single machine.
        if flows.count > 1 { machines[flow][part].reactions[numbers] = reaction }
        return reaction
    }

    /// Records what the machine of one flow has done.
    private mutating func record(
        _ outcome: FlowCoverage.Outcome, of flow: Int, from former: NavigationState, to next: NavigationState,
        _ occurrence: Occurrence, _ origin: Exploration.Origin
    ) {
        let platform = occurrence.input.attributes.platform
        exploration.coverages[flow].record(
            outcome, isOwn: platform == nil || platform == flows[flow].platform, origin)
        if outcome.hasEffect {
            exploration.coverages[flow].record(
                FlowStep(
                    screen: former.top.screen, cause: occurrence.cause, next: next.top.screen,
                    tells: outcome.tells.sorted()))
        }
        let input = occurrence.input
        if occurrence.isNamed, let attempt = former.attempts.first(where: { $0.id == input.attributes.causationID }) {
            exploration.coverages[flow].record(
                FlowCoverage.Answer(rule: attempt.rule, type: input.type, data: input.data),
                hasEffect: outcome.hasEffect, origin)
        }
    }

    /// All that can happen in a state of the session.
    func occurrences(in states: [ExploredMachine]) -> [Occurrence] {
        zip(platforms, states).flatMap { $0.all(in: $1) } + anyTime
    }

    /// - Parameter parts: The numbers of the machines' states.
    /// - Returns: The number of the combination. Nil for one that is not explored.
    private mutating func combination(of parts: [Int]) -> Int? {
        if let number = combinationNumbers[parts] { return number }
        let limits = parts.enumerated().flatMap { machines[$0][$1].limits }
        limits.forEach { exploration.add($0) }
        guard limits.isEmpty else { return nil }
        let number = combinations.count
        combinationNumbers[parts] = number
        self.parts.append(parts)
        combinations.append(parts.enumerated().map { machines[$0][$1].machine })
        steps.append([])
        for (index, machine) in combinations[number].enumerated() {
            for instance in machine.state.open { exploration.coverages[index].reach(instance.screen) }
        }
        return number
    }

    /// The same machines with fewer instances of the screens that have too many. Nil if that is not all that is too much.
    private mutating func similar(to parts: [Int]) -> [Int]? {
        var similar: [Int] = []
        for (flow, part) in parts.enumerated() {
            var machine = machines[flow][part].machine
            while let folded = machine.folded(above: Self.repetitionLimit, flows[flow]) { machine = folded }
            let part = machines[flow].number(of: machine)
            guard machines[flow][part].limits.isEmpty else { return nil }
            similar.append(part)
        }
        return similar
    }

    /// - Returns: The number of the state.
    @discardableResult
    private mutating func add(_ key: SessionKey, from origin: Exploration.Origin) -> Int {
        if let number = numbers[key] { return number }
        let number = states.count
        numbers[key] = number
        states.append(
            SessionState(
                machines: combinations[key.combination], combination: key.combination, pending: key.pending))
        origins.append(origin)
        exits.append(nil)
        return number
    }
}
