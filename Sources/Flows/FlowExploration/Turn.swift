internal import Navigation
internal import Support

/// The messages that follow from each other at once: that of an occurrence, and the commands that flows send because of
/// it.
struct Turn {
    /// A command that a flow sends.
    struct Command: Hashable {
        let type: String
        let data: JSONValue
    }

    /// The states of the machines between two messages, and what they still have to handle. After the same moment, the
    /// same follows.
    struct Moment: Hashable {
        /// The numbers of the machines' states.
        let parts: [Int]
        let waiting: [Command]
        let platforms: [String?]
    }

    private(set) var inputs: [Machine.Input]
    /// True if there are further commands.
    private(set) var isCut = false

    init(_ input: Machine.Input) {
        inputs = [input]
    }

    /// The moment after the machines have handled some of the messages.
    func moment(after count: Int, _ parts: [Int]) -> Moment {
        let waiting = inputs[count...]
        return Moment(
            parts: parts, waiting: waiting.map { Command(type: $0.type, data: $0.data) },
            platforms: waiting.map(\.attributes.platform))
    }

    /// The types of the messages between two moments, sorted.
    func types(in messages: Range<Int>) -> [String] { Set(inputs[messages].map(\.type)).sorted() }

    /// Adds the commands that a flow sends because of one of the messages.
    mutating func send(_ commands: [Command], from platform: String, because input: Machine.Input) {
        for command in commands {
            guard inputs.count <= FlowExplorer.sendLimit else {
                isCut = true
                return
            }
            inputs.append(
                Machine.Input(
                    id: "\(inputs[0].id)-\(inputs.count)", type: command.type, data: command.data,
                    attributes: Machine.Attributes(platform: platform, causationID: input.id)))
        }
    }
}

extension FlowCoverage.Outcome {
    /// Adds what a machine has done with a message.
    mutating func add(_ effects: [Machine.Effect], of machine: Machine) {
        // A rule may be applied many times because of one message, and fail once.
        var places: [String] = []
        var failures: [String: NavigationFailure] = [:]
        for effect in effects {
            switch effect {
            case .applied(let place): places.append(place)
            case .failed(let error): if let place = places.last { failures[place] = error }
            case .began, .messageDiscarded: break
            case .send(let type, _), .ask(_, let type, _, _, _):
                tells.insert("sends \(type)")
                sent.insert(type)
            case .openURL: tells.insert("opens a URL")
            default: hasEffect = true
            }
        }
        if !tells.isEmpty || machine.revision > 0 { hasEffect = true }
        self.places += Set(places)
        self.failures += failures.map { ($0, $1) }
    }
}

extension [Machine.Effect] {
    /// The commands that a machine sends, of the types that some flow answers.
    func commands(answered: Set<String>) -> [Turn.Command] {
        compactMap { effect in
            guard case .send(let type, let data) = effect, answered.contains(type) else { return nil }
            return Turn.Command(type: type, data: data)
        }
    }
}

extension FlowExplorer {
    /// Passes a message to all machines, and the commands that their flows send because of it.
    /// - Returns: All these messages.
    func handle(_ occurrence: Occurrence, _ machines: inout [Machine]) -> [Machine.Input] {
        var turn = Turn(occurrence.input)
        var count = 0
        while count < turn.inputs.count {
            let input = turn.inputs[count]
            count += 1
            for index in machines.indices {
                let commands = machines[index].handle(input).commands(answered: answered)
                turn.send(commands, from: flows[index].platform, because: input)
            }
        }
        return turn.inputs
    }
}
