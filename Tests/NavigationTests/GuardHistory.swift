import Navigation
import SeededRandom

/// A random history of a form whose guards wait: answers that are right, late or meant for others, deadlines, a restless
/// user and two platforms, in any order.
struct GuardHistory {
    private var random: SeededGenerator
    private var count = 0
    private var attempts = ["ghost"]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func next(for state: NavigationState) -> Machine.Input {
        count += 1
        if let attempt = state.attempt, attempts.last != attempt.id { attempts.append(attempt.id) }
        let known = state.standing.map(\.id) + state.leaving.map(\.id) + ["form-2", "ghost-9"]
        let instance = known.randomElement(using: &random) ?? ""
        // Mostly the attempt that waits, or nothing would ever be answered.
        let attempt = Bool.random(using: &random) ? attempts.last : attempts.randomElement(using: &random)
        let (type, data) = message(about: instance, attempt ?? "")
        return Machine.Input(
            id: "m\(count)",
            type: type,
            data: data,
            attributes: Machine.Attributes(
                platform: ([nil, nil, "ios", "mac"] as [String?]).randomElement(using: &random) ?? nil,
                instance: Int.random(in: 0..<4, using: &random) == 0 ? instance : nil,
                causationID: attempt)
        )
    }

    private mutating func message(about instance: String, _ attempt: String) -> (String, JSONValue) {
        let messages: [(String, JSONValue)] = [
            ("command.Begin", [:]), ("command.Begin", [:]), ("command.Begin", [:]),
            ("command.Next", ["name": "Bach"]), ("command.Next", ["name": 3]), ("command.Next", [:]),
            ("command.MenuOpened", [:]), ("command.Again", [:]), ("command.Home", [:]),
            ("event.DraftChecked", ["ok": true, "draft": 1]), ("event.DraftChecked", ["ok": true]),
            ("event.DraftChecked", ["ok": false, "why": "x"]), ("event.MenuReady", [:]), ("event.MenuReady", [:]),
            ("event.GuardDeadlinePassed", ["attempt": .string(attempt)]), ("event.Warned", [:]), ("event.Out", [:]),
            ("command.BackStarted", ["instance": .string(instance)]),
            ("command.BackCompleted", ["instance": .string(instance)]),
            ("command.PresentationDismissed", ["instance": .string(instance)]),
            ("command.PresentationDismissed", ["instance": .string(instance)]),
            ("command.ScreenGone", ["instance": .string(instance)]),
        ]
        return messages.randomElement(using: &random) ?? ("", [:])
    }
}
