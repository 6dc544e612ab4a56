internal import Support

/// A machine in the form in which the exploration of a flow compares machines: with names that follow from the positions
/// of their objects, which are instances, runs, attempts, waits and messages. From two machines with the same form, the
/// same messages lead to the same further forms, whatever happened before.
package struct ExploredMachine: Hashable, Sendable {
    /// Without screens that are being animated out, which no condition reads.
    package let state: NavigationState
    /// The alerts and dialogs whose commands wait for an attempt.
    let answers: [NavigationMemory.Answer]
    /// For each of the awaited deadlines, the position of its beginning among those of the others.
    private let ranks: [Int]

    /// - Parameter former: The form of the machine before its last message. Nil at the beginning of the session.
    package init(_ machine: Machine, after former: ExploredMachine? = nil) {
        let names = ExploredNames(of: machine)
        var state = machine.state
        state.leaving = []
        state.rename(names)
        self.state = state
        answers = machine.heldAnswers.map { answer in
            var answer = answer
            answer.message = names.renamed(answer.message)
            names.rename(&answer.question)
            return answer
        }
        let known = former.map { Dictionary(zip($0.state.awaitedDeadlines, $0.ranks)) { first, _ in first } } ?? [:]
        let next = (known.values.max() ?? -1) + 1
        let ranks = machine.state.awaitedDeadlines.map { known[$0] ?? next }
        let order = Set(ranks).sorted()
        self.ranks = ranks.map { order.firstIndex(of: $0) ?? 0 }
    }

    /// The awaited deadlines that can pass next: those of which no other one, that has not begun later, is shorter.
    package var nextDeadlines: [String] {
        let delays = state.attempts.map(\.deadline) + state.waits.filter { $0.isOver != true }.map(\.delay)
        let awaited = zip(ranks, delays).enumerated()
        return zip(state.awaitedDeadlines, awaited).filter { _, own in
            !awaited.contains { $0.element.0 <= own.element.0 && $0.element.1 < own.element.1 }
        }.map(\.0)
    }

    private init(_ state: NavigationState, _ answers: [NavigationMemory.Answer], _ ranks: [Int]) {
        (self.state, self.answers, self.ranks) = (state, answers, ranks)
    }

    /// The form with one instance less of a screen that has more than a number of instances on a path, or in
    /// presentations. Nil if there is no such screen, or if something refers to this instance.
    package func folded(above limit: Int, _ flow: Flow) -> ExploredMachine? {
        var folded = state
        var gone: String?
        if let scope = state.paths.first(where: { state[$0].excess(above: limit) != nil }),
            let index = state[scope].excess(above: limit)
        {
            gone = folded[scope].remove(at: index).id
        } else if let index = state.presentations.map(\.instance).excess(above: limit),
            state.presentations[index].path.isEmpty
        {
            gone = folded.presentations.remove(at: index).instance.id
        }
        guard let gone, !state.refers(to: gone) else { return nil }
        return ExploredMachine(Machine(exploring: ExploredMachine(folded, answers, ranks), flow: flow), after: self)
    }

    /// The greatest number in a name.
    fileprivate var lastNumber: Int {
        state.open.count + state.runs.count + state.waits.count + answers.count
            + state.attempts.reduce(0) { $0 + 2 + $1.queue.count }
    }
}

extension Machine {
    /// A machine in an explored form, as if its session had begun with it: it does not remember what has ended before.
    package init(exploring explored: ExploredMachine, flow: Flow) {
        self.init(
            flow: flow, session: "default", revision: 0, state: explored.state, cause: nil,
            memory: NavigationMemory(
                instances: explored.lastNumber, answers: explored.answers.isEmpty ? nil : explored.answers))
    }

    /// The names of objects, by the names that they have in the explored form.
    package var namesByExploredName: [String: String] {
        Dictionary(ExploredNames(of: self).names.map { ($0.value, $0.key) }) { first, _ in first }
    }

    /// The answers of alerts and dialogs whose commands wait for an attempt.
    fileprivate var heldAnswers: [NavigationMemory.Answer] {
        guard let answers = memory.answers else { return [] }
        let causes = Set(
            state.attempts.flatMap { [$0.message] + $0.queue }.compactMap(\.attributes.causationID))
        return answers.filter { causes.contains($0.message) }
    }
}

extension Flow {
    /// The same flow, whose machines tell the rules that they apply, see ``Machine/Effect/applied(rule:)``.
    package var tellingRules: Flow { Flow(program: FlowProgram(program.declaration, tellsRules: true)) }
}

extension [ScreenInstance] {
    /// The index of the second of more instances of one screen than a number. Nil if no screen has as many.
    fileprivate func excess(above limit: Int) -> Int? {
        guard count > limit else { return nil }
        let all = Dictionary(grouping: indices) { self[$0].screen }.values
        return all.filter { $0.count > limit }.map { $0[1] }.min()
    }
}

extension NavigationState {
    /// True if an attempt, a run or a wait belongs to an instance.
    fileprivate func refers(to instance: String) -> Bool {
        attempts.contains { $0.instance == instance } || runs.contains { $0.first == instance }
            || waits.contains { $0.instances?.contains(instance) == true }
    }

    fileprivate mutating func rename(_ names: ExploredNames) {
        names.rename(&root.instance)
        switch root.container {
        case .split(let columns): root.container = .split(columns: columns.mapValues(names.renamed))
        case .tabs(let tabs, let selected):
            root.container = .tabs(
                tabs.map { Container.Tab($0.name, names.renamed($0.stack)) }, selected: selected)
        case nil: break
        }
        for index in path.indices { names.rename(&path[index]) }
        for index in presentations.indices {
            names.rename(&presentations[index].instance)
            for place in presentations[index].path.indices { names.rename(&presentations[index].path[place]) }
        }
        for index in leaving.indices { names.rename(&leaving[index]) }
        runs = runs.map { run in
            FlowRun(
                id: names.renamed(run.id), flow: run.flow, first: names.renamed(run.first),
                parent: run.parent.map(names.renamed))
        }
        attempts = attempts.map { attempt in
            var attempt = attempt
            attempt.id = names.renamed(attempt.id)
            attempt.instance = names.renamed(attempt.instance)
            attempt.run = attempt.run.map(names.renamed)
            attempt.message = names.renamed(attempt.message)
            attempt.queue = attempt.queue.map(names.renamed)
            return attempt
        }
        waits = waits.map { wait in
            var wait = wait
            wait.id = names.renamed(wait.id)
            wait.run = wait.run.map(names.renamed)
            wait.instances = wait.instances?.map(names.renamed)
            return wait
        }
        parked = parked.map { link in
            // The time at which it expires is one of the things that can happen.
            ParkedLink(
                url: link.url, messageID: "parked", expires: 1,
                older: link.older?.filter(names.knows).map(names.renamed))
        }
    }
}

/// The names of objects in an explored form, by their names before.
private struct ExploredNames {
    private let platform: String
    private(set) var names: [String: String] = [:]
    private var count = 0

    init(of machine: Machine) {
        platform = machine.flow.platform
        for instance in machine.state.open { add(instance) }
        for run in machine.state.runs { add(run) }
        for attempt in machine.state.attempts {
            add(attempt: attempt.id)
            for input in [attempt.message] + attempt.queue { add(message: input.id) }
        }
        for wait in machine.state.waits { add(attempt: wait.id) }
        for answer in machine.heldAnswers { add(message: answer.message) }
    }

    private mutating func add(_ instance: ScreenInstance) { add(instance.id, instance.screen) }
    private mutating func add(_ run: FlowRun) { add(run.id, run.flow) }
    private mutating func add(attempt id: String) { add(id, "\(platform)-attempt") }
    private mutating func add(message id: String) { add(id, "\(platform)-message") }

    private mutating func add(_ name: String, _ kind: String) {
        count += 1
        names[name] = "\(kind)-\(count)"
    }

    func knows(_ name: String) -> Bool { names[name] != nil }

    /// The new name. A name of something that is gone is replaced by one that nothing has.
    func renamed(_ name: String) -> String { names[name] ?? "gone" }

    func rename(_ instance: inout ScreenInstance) {
        instance.id = renamed(instance.id)
        instance.run = instance.run.map(renamed)
    }

    func renamed(_ stack: ScreenStack) -> ScreenStack {
        var stack = stack
        rename(&stack.instance)
        for index in stack.path.indices { rename(&stack.path[index]) }
        return stack
    }

    func renamed(_ input: Machine.Input) -> Machine.Input {
        var input = input
        input.id = renamed(input.id)
        input.attributes.instance = input.attributes.instance.map(renamed)
        input.attributes.causationID = input.attributes.causationID.flatMap { names[$0] }
        (input.attributes.time, input.attributes.expiry) = (nil, nil)
        return input
    }
}
