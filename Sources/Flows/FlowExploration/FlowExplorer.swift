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
    private var combinationNumbers: [[ExploredMachine]: Int] = [:]
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
        let similar: [ExploredMachine]?
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
        if let first = combination(of: flows.map { ExploredMachine(Machine(flow: $0)) }) {
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
        var occurrences: [Occurrence]?
        var steps = self.steps[state.combination]
        if steps.isEmpty {
            let all = self.occurrences(in: state.machines)
            (occurrences, steps) = (all, all.map(step))
        }
        var exits: [Exit]? = []
        for index in steps.indices where steps[index].isPossible(with: state.pending) {
            let origin = Exploration.Origin(state: number, occurrence: index)
            exploration.messageCount += 1
            let step = steps[index]
            let result: Step.Result
            if let known = step.result {
                result = known
            } else {
                let all = occurrences ?? self.occurrences(in: state.machines)
                occurrences = all
                result = record(reaction(to: all[index], in: state.machines), to: all[index], in: state, origin)
                steps[index].result = result
            }
            let (sets, needsOthers) = step.pending(after: state.pending, result)
            for pending in sets {
                guard let next = result.next else {
                    if step.kind != .link {
                        beyond.append(
                            Beyond(
                                state: number, similar: result.similar, pending: pending,
                                isLaunch: step.kind == .launch, needsOthers: needsOthers))
                    }
                    continue
                }
                let key = SessionKey(combination: next, pending: pending)
                if key == SessionKey(combination: state.combination, pending: state.pending) { continue }
                exploration.transitionCount += 1
                let successor = add(key, from: origin)
                if step.kind == .link { continue }
                // A command of another platform that changes no machine may have answers.
                let isAnswered = step.isOthers && next == state.combination
                exits?.append(
                    Exit(
                        state: Int32(successor), isLaunch: step.kind == .launch, needsOthers: needsOthers || isAnswered)
                )
            }
        }
        self.exits[number] = exits
        if !answers.isEmpty { self.steps[state.combination] = steps }
    }

    /// What can happen because of an occurrence, before it is known what it leads to.
    private func step(_ occurrence: Occurrence) -> Step {
        let (type, platform) = (occurrence.input.type, occurrence.input.attributes.platform)
        let answer = answers[type]
        let isOthers = platform == Occurrence.otherPlatform
        if answer.isEmpty || occurrence.causedBy != nil {
            return Step(kind: occurrence.kind, answer: answer, needed: [], answersToOthers: nil, isOthers: isOthers)
        }
        // An answer has the platform of what it answers, which only matters for some.
        let canBeOthers = hasOthers && (isOthers || platform == nil && ownAnswers.isDisjoint(with: answer))
        return Step(
            kind: occurrence.kind, answer: answer, needed: isOthers ? nil : answer,
            answersToOthers: canBeOthers ? answers.accompanying(type).subtracting(ownAnswers) : nil, isOthers: isOthers)
    }

    /// Records what the machines of a state have done because of an occurrence.
    private mutating func record(
        _ reaction: Reaction, to occurrence: Occurrence, in state: SessionState, _ origin: Exploration.Origin
    ) -> Step.Result {
        let turn = reaction.turn
        for (index, outcome) in turn.outcomes.enumerated() { exploration.coverages[index].record(outcome, origin) }
        for (index, step) in reaction.steps { exploration.coverages[index].record(step) }
        if occurrence.isNamed { recordAnswer(occurrence.input, origin, turn) }
        if turn.isEndless {
            exploration.add(
                EndlessCommands(types: turn.lastTypes, places: turn.outcomes.map(\.places.last), origin: origin))
        } else if turn.isCut {
            exploration.add(.sends)
        }
        var next: Int? = state.combination
        var similar: [ExploredMachine]?
        if let machines = reaction.machines {
            next = combination(of: machines)
            if next == nil { similar = self.similar(to: machines) }
        }
        return Step.Result(
            next: next, similar: similar,
            following: turn.sent.reduce(answers.following(occurrence.input.type)) { $0.union(answers.following($1)) },
            isConsumed: occurrence.isNamed || turn.outcomes.contains(where: \.hasEffect))
    }

    /// All that can happen in a state of the session.
    func occurrences(in states: [ExploredMachine]) -> [Occurrence] {
        zip(platforms, states).flatMap { $0.all(in: $1) } + anyTime
    }

    /// Records whether a message that answers attempts has an effect.
    private mutating func recordAnswer(_ input: Machine.Input, _ origin: Exploration.Origin, _ turn: Turn) {
        for (index, machine) in states[origin.state].machines.enumerated() {
            guard let attempt = machine.state.attempts.first(where: { $0.id == input.attributes.causationID }) else {
                continue
            }
            exploration.coverages[index].record(
                FlowCoverage.Answer(rule: attempt.rule, type: input.type, data: input.data),
                hasEffect: turn.outcomes[index].hasEffect, origin)
        }
    }

    /// - Returns: The number of the combination. Nil for one that is not explored.
    private mutating func combination(of machines: [ExploredMachine]) -> Int? {
        if let number = combinationNumbers[machines] { return number }
        let limits = machines.flatMap(\.state.limits)
        limits.forEach { exploration.add($0) }
        guard limits.isEmpty else { return nil }
        let number = combinations.count
        combinationNumbers[machines] = number
        combinations.append(machines)
        steps.append([])
        for (index, machine) in machines.enumerated() {
            for instance in machine.state.open { exploration.coverages[index].reach(instance.screen) }
        }
        return number
    }

    /// The same machines with fewer instances of the screens that have too many. Nil if that is not all that is too much.
    private func similar(to machines: [ExploredMachine]) -> [ExploredMachine]? {
        let similar = zip(machines, flows).map { machine, flow in
            var machine = machine
            while let folded = machine.folded(above: Self.repetitionLimit, flow) { machine = folded }
            return machine
        }
        return similar.allSatisfy(\.state.limits.isEmpty) ? similar : nil
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
