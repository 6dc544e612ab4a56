internal import Support

// A state in the form in which the exploration of a flow compares states.
extension NavigationState {
    /// The state with names that follow from the positions of their objects: instances, runs, attempts, waits and
    /// messages. Two states with the same explored state lead to the same further explored states, whatever happened
    /// before. It has no screens that are being animated out, which no condition reads.
    ///
    /// - Parameter platform: The platform of the machine. Attempts and messages of several machines have different names.
    package func explored(on platform: String) -> NavigationState {
        var state = self
        state.leaving = []
        state.rename(exploredNames(on: platform))
        return state
    }

    /// The names of objects, by the names that they have in the explored state.
    package func namesByExploredName(on platform: String) -> [String: String] {
        Dictionary(exploredNames(on: platform).names.map { ($0.value, $0.key) }) { first, _ in first }
    }

    private func exploredNames(on platform: String) -> ExploredNames {
        var names = ExploredNames(platform)
        for instance in open { names.add(instance) }
        for run in runs { names.add(run) }
        for attempt in attempts {
            names.add(attempt: attempt.id)
            for input in [attempt.message] + attempt.queue { names.add(message: input.id) }
        }
        for wait in waits { names.add(attempt: wait.id) }
        return names
    }

    private mutating func rename(_ names: ExploredNames) {
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

    /// The greatest number in a name of an explored state.
    fileprivate var lastNumber: Int {
        open.count + runs.count + waits.count
            + attempts.reduce(0) { $0 + 2 + $1.queue.count }
    }
}

extension Flow {
    /// The same flow, whose machines tell the rules that they apply, see ``Machine/Effect/applied(rule:)``.
    package var tellingRules: Flow { Flow(program: FlowProgram(program.declaration, tellsRules: true)) }
}

extension Machine {
    /// A machine in an explored state, as if its session had begun with it: it does not remember what has ended before.
    package init(exploring state: NavigationState, flow: Flow) {
        self.init(
            flow: flow, session: "default", revision: 0, state: state, cause: nil,
            memory: NavigationMemory(instances: state.lastNumber))
    }

    /// True if a message that waits for an attempt was sent by the button of an alert. The explored state does not know
    /// the alert, so the rules of another child flow may answer the message.
    package var holdsAnswerOfAlert: Bool {
        guard let answers = memory.answers else { return false }
        return state.attempts.contains { attempt in
            ([attempt.message] + attempt.queue).contains { answers.question(sending: $0)?.run != nil }
        }
    }
}

/// The names of objects in an explored state, by their names before.
private struct ExploredNames {
    private let platform: String
    private(set) var names: [String: String] = [:]
    private var count = 0

    init(_ platform: String) {
        self.platform = platform
    }

    mutating func add(_ instance: ScreenInstance) { add(instance.id, instance.screen) }
    mutating func add(_ run: FlowRun) { add(run.id, run.flow) }
    mutating func add(attempt id: String) { add(id, "\(platform)-attempt") }
    mutating func add(message id: String) { add(id, "\(platform)-message") }

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
        input.attributes.causationID = nil
        (input.attributes.time, input.attributes.expiry) = (nil, nil)
        return input
    }
}
