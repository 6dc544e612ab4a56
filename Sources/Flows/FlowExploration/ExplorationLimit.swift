/// Something that an exploration leaves out. What it has not found may exist there.
package enum ExplorationLimit: Hashable, Comparable {
    /// There are more states than the maximum.
    case states
    /// A path can have any number of instances of a screen.
    case repetition(screen: String)
    /// A guard can hold back any number of messages.
    case queue
    /// The messages of a type have too many combinations of values, or values that are parts of others.
    case values(type: String)
    /// Commands that flows send lead to more of them, without end.
    case sends
    /// A screen may send any command.
    case openScreen(String)
    /// Views may request actions.
    case requests
    /// The arguments of a screen can become longer and longer.
    case arguments(screen: String)
    /// A pattern that matches URLs of which no example can be written.
    case link(pattern: String)
}

extension ExplorationLimit {
    /// True if there are messages of which nothing is known.
    var hidesEverything: Bool {
        switch self {
        case .openScreen, .requests: true
        default: false
        }
    }
}

extension ExplorationLimit: CustomStringConvertible {
    package var description: String { text(for: name.map { "'\($0)'" } ?? "") }

    /// A line for each kind of limit, with the names of all that it is about.
    package static func lines(of limits: Set<ExplorationLimit>) -> [String] {
        Dictionary(grouping: limits.sorted()) { $0.text(for: "") }.values
            .map { same in same[0].text(for: same.compactMap(\.name).map { "'\($0)'" }.joined(separator: ", ")) }
            .sorted()
    }

    private var name: String? {
        switch self {
        case .repetition(let screen), .openScreen(let screen), .arguments(let screen): screen
        case .values(let type): type
        case .link(let pattern): pattern
        case .states, .queue, .sends, .requests: nil
        }
    }

    private func text(for names: String) -> String {
        switch self {
        case .states: "there are more states; use a greater --states"
        case .repetition:
            "a path can have any number of \(names); at most \(FlowExplorer.repetitionLimit) were explored"
        case .queue:
            "guards hold back any number of messages; at most \(FlowExplorer.queueLimit) were explored"
        case .values: "not all values of the fields of \(names) were explored"
        case .sends: "commands lead to further commands; at most \(FlowExplorer.sendLimit) in turn were explored"
        case .openScreen: "screens of steps may send any command: \(names); write their 'sends'"
        case .requests: "actions that views request were not explored"
        case .arguments:
            "the arguments of \(names) can become longer than \(FlowExplorer.argumentLimit) bytes"
        case .link: "no URL of \(names) was explored"
        }
    }
}
