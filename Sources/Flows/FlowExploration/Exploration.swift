internal import Navigation

/// What an exploration has found.
package struct Exploration {
    /// A way into a state: what happened in which state, by their numbers.
    package struct Origin: Sendable {
        let state: Int
        let occurrence: Int

        static let start = Origin(state: 0, occurrence: 0)
    }

    package internal(set) var stateCount = 0
    /// The number of messages that were tried in all states.
    package internal(set) var messageCount = 0
    /// The number of those that have led to another state.
    package internal(set) var transitionCount = 0
    /// One for each flow.
    package internal(set) var coverages: [FlowCoverage]
    /// What is assumed of the events of services.
    package internal(set) var events = EventAssumption.none
    /// The first commands that lead to each other without end. Nil if there are none.
    private(set) var endless: EndlessCommands?
    /// What was not explored.
    package private(set) var limits: Set<ExplorationLimit> = []

    init(of flows: [Flow]) {
        coverages = flows.map(FlowCoverage.init)
    }

    /// True if everything was explored, so that what was not found does not exist.
    package var isWhole: Bool { limits.isEmpty }

    mutating func add(_ limit: ExplorationLimit) { limits.insert(limit) }

    mutating func add(_ commands: EndlessCommands) { endless = endless ?? commands }
}

/// Commands of flows that lead to each other without end, and to the same states again and again.
struct EndlessCommands {
    /// The types, sorted.
    let types: [String]
    /// For each flow, the place of a rule that sends one of them. Nil if it sends none.
    let places: [String?]
    let origin: Exploration.Origin
}

/// What an exploration assumes of the events that services send and flows answer. Where an event may come at any time, more
/// is possible than in the app: what is found is certain, and a wait or a dead end may be missed.
package enum EventAssumption: Equatable {
    /// Flows answer no events.
    case none
    /// They come at any time, because no handlers of services are known.
    case unknown
    /// These come at any time, because there are too many states otherwise.
    case unbound([String])
    /// Some come only because of the messages whose handlers send them, the others at any time.
    case answers([String], free: [String])

    /// The types that come only because of messages.
    package var types: [String] {
        switch self {
        case .none, .unknown: []
        case .unbound(let types), .answers(let types, free: _): types
        }
    }
}

extension EventAssumption: CustomStringConvertible {
    package var description: String {
        func words(_ types: [String]) -> String { types.map { "'\($0)'" }.joined(separator: ", ") }
        return switch self {
        case .none: ""
        case .unknown: "events at any time: no contract says what services answer"
        case .unbound: "events at any time: as answers they lead to more states; use a greater --states"
        case .answers(let types, free: []): "\(words(types)) only as answers of services"
        case .answers([], free: let free): "\(words(free)) at any time"
        case .answers(let types, free: let free):
            "\(words(types)) only as answers of services, \(words(free)) at any time"
        }
    }
}
