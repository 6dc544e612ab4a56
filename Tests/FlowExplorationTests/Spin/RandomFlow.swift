import FlowFiles
import Navigation
import TestSupport

/// Writes flows of the language that has a form in Promela, by chance.
struct RandomFlow {
    private var generator: SeededGenerator
    private var screens: [String] = []
    private let commands = ["command.W", "command.X", "command.Y", "command.Z"]

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// The next flow.
    mutating func next() throws -> Flow { try Flow(yaml: yaml(), file: "random.yaml") }

    private mutating func yaml() -> String {
        screens = Array(["a", "b", "c", "d", "e"].prefix(Int.random(in: 3...5, using: &generator)))
        let lines = screens.map { screen in "  \(screen): \(self.screen())" }
        let rules = (0..<Int.random(in: 5...12, using: &generator)).map { _ in "  - \(rule())" }
        let properties = (0..<3).map { _ in "  - \(property())" }
        return """
            name: random
            version: 1
            platform: ios
            start: a
            screens:
            \(lines.joined(separator: "\n"))
            transitions:
            \(rules.joined(separator: "\n"))
            properties:
            \(properties.joined(separator: "\n"))

            """
    }

    private mutating func chance(_ one: Int, in all: Int) -> Bool { generator.chance(one, in: all) }

    private mutating func pick(_ texts: [String]) -> String { texts.randomElement(using: &generator) ?? "" }

    private mutating func some(_ texts: [String], _ counts: ClosedRange<Int>) -> [String] {
        Array(texts.shuffled(using: &generator).prefix(Int.random(in: counts, using: &generator)))
    }

    private mutating func screen() -> String {
        var keys = ["sends: [\(some(commands, 1...3).joined(separator: ", "))]"]
        if chance(1, in: 8) { keys.append("back: false") }
        if chance(1, in: 6) { keys.append("once: true") }
        return "{ \(keys.joined(separator: ", ")) }"
    }

    private mutating func rule() -> String {
        var keys: [String] = []
        var conditions = 0...(chance(1, in: 3) ? 2 : 1)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0:
            keys.append("on: \(pick(["user.wentBack", "user.dismissed"]))")
            if chance(2, in: 3) { keys.append("where: { screen: \(pick(screens)) }") }
        case 1, 2:
            keys.append("on: \(pick(["event.E", "event.F", "event.LaunchFinished"]))")
            conditions = 1...(chance(1, in: 3) ? 2 : 1)
        default:
            keys.append(
                "on: \(chance(1, in: 6) ? "[\(some(commands, 2...2).joined(separator: ", "))]" : pick(commands))")
        }
        let isCommand = keys[0].contains("command")
        let when = self.conditions(conditions, isCommand: isCommand)
        if !when.isEmpty { keys.append("when: { \(when) }") }
        let unless = self.conditions(chance(1, in: 4) ? 1...2 : 0...0, isCommand: isCommand)
        if !unless.isEmpty { keys.append("unless: { \(unless) }") }
        let actions = (0..<pickCount()).map { _ in step(isCommand: isCommand) }
        keys.append("do: [\(actions.joined(separator: ", "))]")
        return "{ \(keys.joined(separator: ", ")) }"
    }

    private mutating func pickCount() -> Int { chance(1, in: 2) ? 1 : Int.random(in: 1...3, using: &generator) }

    private mutating func conditions(_ count: ClosedRange<Int>, isCommand: Bool) -> String {
        let scopes =
            ["root", "top", "top", "path", "presented", "shown"] + (isCommand && chance(1, in: 4) ? ["sender"] : [])
        return Set(some(scopes, count)).sorted().map { scope in
            if ["path", "presented"].contains(scope), chance(1, in: 4) { return "\(scope): []" }
            if scope == "sender", chance(1, in: 6) { return "sender: []" }
            return "\(scope): [\(some(screens, 1...2).joined(separator: ", "))]"
        }.joined(separator: ", ")
    }

    private mutating func step(isCommand: Bool) -> String {
        let action = self.action(isCommand: isCommand)
        return chance(1, in: 6) ? "{ ifPossible: \(action) }" : action
    }

    private mutating func action(isCommand: Bool) -> String {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0, 1: "{ setRoot: \(pick(screens)) }"
        case 2, 3, 4, 5: "{ push: \(pick(screens)) }"
        case 6: "pop"
        case 7: "{ pop: 2 }"
        case 8: pick(["{ popTo: \(pick(screens)) }", "{ pop: { from: \(pick(screens)) } }"])
        case 9: "popToRoot"
        case 10: "{ goTo: \(pick(screens)) }"
        case 11: "back"
        case 12: "{ replacePath: [\(some(screens, 0...2).joined(separator: ", "))] }"
        case 13, 14: "{ present: { screen: \(pick(screens)), \(style()) } }"
        case 15: "{ present: { screen: \(pick(screens)), \(question()) } }"
        case 16: "dismiss"
        case 17: "{ dismiss: \(pick(screens)) }"
        case 18: "dismissAll"
        default:
            isCommand
                ? pick(["{ pop: sender }", "{ dismiss: sender }", "{ push: { screen: \(pick(screens)), on: sender } }"])
                : "dismiss"
        }
    }

    private mutating func style() -> String {
        pick(["style: sheet", "style: sheet", "style: fullScreen", "style: sheet, interactiveDismissal: false"])
    }

    private mutating func question() -> String {
        var buttons = ["{ id: no, title: No, role: cancel }"]
        let sent = chance(1, in: 2) ? ", sends: \(pick(commands))" : ""
        let taken = chance(1, in: 2) ? ", do: [\(action(isCommand: false))]" : ""
        if !sent.isEmpty || !taken.isEmpty { buttons.append("{ id: yes, title: Yes\(sent)\(taken) }") }
        return "style: \(pick(["alert", "dialog"])), title: Sure, buttons: [\(buttons.joined(separator: ", "))]"
    }

    private mutating func property() -> String {
        let kind = pick(["always", "never", "canReach"])
        var keys: [String] = []
        if chance(1, in: 2) { keys.append("when: { \(conditions(1...1, isCommand: false)) }") }
        if chance(1, in: 4) { keys.append("unless: { \(conditions(1...1, isCommand: false)) }") }
        keys.append("\(kind): { \(conditions(1...2, isCommand: false)) }")
        return "{ \(keys.joined(separator: ", ")) }"
    }
}
