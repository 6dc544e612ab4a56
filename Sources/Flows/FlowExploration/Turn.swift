internal import FlowReview
internal import Navigation
internal import Support

extension FlowExplorer {
    /// What an occurrence leads to at once.
    struct Turn {
        /// The message of the occurrence, and the commands that flows send because of it.
        private(set) var inputs: [Machine.Input]
        /// For each machine, what it has done with all of them.
        private(set) var outcomes: [FlowCoverage.Outcome]
        /// The types of the commands that flows send because of it, also those that no flow answers.
        private(set) var sent: Set<String> = []
        /// True if there are further commands.
        private(set) var isCut = false
        /// True if there are more of them without end.
        fileprivate(set) var isEndless = false

        /// The second half of the allowed commands.
        fileprivate var lastInputs: ArraySlice<Machine.Input> { inputs.dropFirst(FlowExplorer.sendLimit / 2) }

        /// Their types, sorted.
        var lastTypes: [String] { Set(lastInputs.map(\.type)).sorted() }

        /// The types that some flow answers.
        private let answered: Set<String>

        init(_ input: Machine.Input, machineCount: Int, answered: Set<String>) {
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
                    sent.insert(type)
                    if answered.contains(type) { send(type, data, from: machine, by: input) }
                case .ask(_, let type, _, _, _):
                    outcomes[index].tells.insert("sends \(type)")
                    sent.insert(type)
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
        var revisions: [Int] = []
        while count < turn.inputs.count {
            if count == turn.lastInputs.startIndex { revisions = machines.map(\.revision) }
            let input = turn.inputs[count]
            count += 1
            for index in machines.indices {
                let effects = machines[index].handle(input)
                turn.add(effects, of: index, machines[index], by: input)
            }
        }
        // In the same states, a command leads to the same ones again.
        turn.isEndless =
            turn.isCut && machines.map(\.revision) == revisions && turn.lastTypes.count < turn.lastInputs.count
        return turn
    }

    /// What the machines of a state do because of an occurrence.
    struct Reaction {
        let turn: Turn
        /// The machines afterwards. Nil if none has changed.
        let machines: [ExploredMachine]?
        /// The steps of the flows, by their numbers.
        let steps: [(flow: Int, step: FlowStep)]
    }

    func reaction(to occurrence: Occurrence, in former: [ExploredMachine]) -> Reaction {
        var machines = zip(flows, former).map { Machine(exploring: $1, flow: $0) }
        let turn = handle(occurrence, &machines)
        let steps = turn.outcomes.indices.filter { turn.outcomes[$0].hasEffect }.map { index in
            let step = FlowStep(
                screen: former[index].state.top.screen, cause: occurrence.cause,
                next: machines[index].state.top.screen, tells: turn.outcomes[index].tells.sorted())
            return (flow: index, step: step)
        }
        let hasChanged = machines.contains { $0.revision > 0 }
        return Reaction(
            turn: turn, machines: hasChanged ? zip(machines, former).map { ExploredMachine($0, after: $1) } : nil,
            steps: steps)
    }
}
