internal import Navigation

/// The states that one flow's machine was found in, and what it does in them.
///
/// That depends on no other machine, so it is found once for each state of this machine, in however many states of the
/// session it is in this one.
struct MachineStates {
    /// What a machine does because of messages that follow from each other at once.
    struct Reaction {
        /// The number of the next state, which is the same one if nothing changes.
        let next: Int
        let outcome: FlowCoverage.Outcome
        /// The commands that it sends because of the last message, and that some flow answers.
        let commands: [Turn.Command]
        /// True if the outcome has been recorded.
        var isRecorded = false
    }

    /// A state, and what has been found out about it.
    struct State {
        let machine: ExploredMachine
        /// The limits beyond which the state is. A state that is beyond one is not explored.
        let limits: [ExplorationLimit]
        /// The numbers of what can happen in the state. Nil if that is not known yet.
        var occurrences: [Int]?
        /// By the numbers of what happens and of the commands that follow from it.
        var reactions: [[Int]: Reaction] = [:]
    }

    private var states: [State] = []
    private var numbers: [ExploredMachine: Int] = [:]

    subscript(number: Int) -> State {
        get { states[number] }
        _modify { yield &states[number] }
    }

    /// The number of a state, which is added if it is new.
    mutating func number(of machine: ExploredMachine) -> Int {
        if let number = numbers[machine] { return number }
        let number = states.count
        numbers[machine] = number
        states.append(State(machine: machine, limits: machine.state.limits))
        return number
    }
}

/// Numbers for values, in the order in which they were found.
struct Numbering<Value: Hashable> {
    private(set) var values: [Value] = []
    private var numbers: [Value: Int] = [:]

    mutating func number(of value: Value) -> Int {
        if let number = numbers[value] { return number }
        let number = values.count
        numbers[value] = number
        values.append(value)
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
