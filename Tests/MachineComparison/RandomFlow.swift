import Navigation
import Support
import TestSupport

/// Makes random flows that pass the checks: with every kind of action and condition, child flows, guards, waits,
/// questions with buttons, and links.
struct RandomFlow {
    static let screens = ["a", "b", "c", "d", "e"]
    static let children = ["login", "wizard"]
    static let types = ["event.A", "event.B", "event.C", "command.A", "command.B", "command.C"]
    static let links = ["test:one/{id}?q={q}", "test:two/{n:integer}", "test:tab", "test:go/{id}", "test:send/{id?}"]

    private(set) var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// A flow of the rules and links that pass the checks, among many random ones.
    mutating func flow() throws -> Flow {
        let declared = screenParts()
        var parts = declared + (try children(beside: declared))
        for _ in 0..<Int.random(in: 30...60, using: &random) {
            let part = random.chance(1, in: 8) ? link() : .transition(rule(inChild: false))
            let candidate = parts + [part]
            if (try? build(candidate)) != nil { parts = candidate }
        }
        return try build(parts)
    }

    private func build(_ parts: [Flow.Part]) throws -> Flow {
        try Flow(
            "random", version: 1, platform: "ios", start: "a",
            requests: [.push, .pop, .back, .present, .dismiss, .setRoot, .selectTab, .goTo, .popToRoot, .openURL]
        ) { parts }
    }

    private mutating func screenParts() -> [Flow.Part] {
        Self.screens.map { name in
            let isDeclared = random.chance(1, in: 4)
            let isPlain = name == "a"
            return .screen(
                Flow.Screen(
                    name, sends: ["command.A", "command.\(name.uppercased())"],
                    arguments: isDeclared
                        ? ["id": .init(.string, isRequired: false), "n": .init(.any, isRequired: false)] : nil,
                    gate: !isPlain && random.chance(1, in: 8), once: random.chance(1, in: 3),
                    back: isPlain || !random.chance(1, in: 8)))
        }
    }

    private mutating func children(beside screens: [Flow.Part]) throws -> [Flow.Part] {
        var made: [Flow.Part] = Self.children.map { .flow(Flow.Child($0, start: "e", transitions: [])) }
        for (index, name) in Self.children.enumerated() {
            var rules: [Flow.Transition] = []
            for _ in 0..<8 {
                var candidate = made
                candidate[index] = .flow(Flow.Child(name, start: "e", transitions: rules + [rule(inChild: true)]))
                guard (try? build(screens + candidate)) != nil, case .flow(let child) = candidate[index] else {
                    continue
                }
                rules = child.transitions
                made = candidate
            }
        }
        return made
    }

    // MARK: Rules

    private mutating func rule(inChild: Bool) -> Flow.Transition {
        let when = conditions(4)
        let unless = conditions(6)
        let actions = actions(inChild: inChild)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return Flow.Transition(after: .seconds(3), when: when, unless: unless, do: actions)
        case 1:
            return Flow.Transition(
                on: pick(Self.types), where: fields(), when: when, unless: unless, guard: condition(inChild),
                do: actions)
        case 3:
            return Flow.Transition(on: pick(["flow.finished", "flow.abandoned"]), when: when, do: actions)
        case 4:
            return Flow.Transition(
                on: pick(["user.wentBack", "user.dismissed", "user.selectedTab", "user.tappedTab"]), when: when,
                do: actions)
        case 5: return Flow.Transition(on: [pick(Self.types), pick(Self.types)], where: fields(), do: actions)
        default:
            return Flow.Transition(
                on: pick(Self.types), where: fields(), when: when, unless: unless,
                origin: random.chance(1, in: 6) ? .own : .any, do: actions)
        }
    }

    private mutating func fields() -> [String: Flow.Match] {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: ["n": .value(.integer(Int.random(in: 0...2, using: &random)))]
        case 1: ["n": .atLeast(1), "id": .exists(true)]
        case 2: ["id": .not("x", 1)]
        case 3: ["more.deep": .any(of: 1, "y")]
        default: [:]
        }
    }

    private mutating func conditions(_ share: Int) -> [Flow.Condition] {
        (0..<2).compactMap { _ in random.chance(1, in: share + 1) ? stateCondition() : nil }
    }

    private mutating func stateCondition() -> Flow.Condition {
        let scope = pick(Flow.Condition.Scope.allCases)
        if scope == .tab { return .tab(pick(["b", "c", "more"])) }
        let mayBeEmpty = [.path, .presented, .sender].contains(scope)
        if mayBeEmpty, random.chance(1, in: 3) { return Flow.Condition(scope, []) }
        return Flow.Condition(
            scope,
            (0...Int.random(in: 0...2, using: &random)).map { _ in
                let match: [String: Flow.Match] =
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: ["id": .value(value())]
                    case 1: ["n": Flow.Match(noneOf: [value()], exists: true)]
                    case 2: ["n": .atMost(1)]
                    default: [:]
                    }
                return .screen(pick(Self.screens), match)
            })
    }

    private mutating func condition(_ inChild: Bool) -> Flow.Guard {
        let asks = random.chance(1, in: 2)
        let rejects = random.chance(2, in: 3)
        return Flow.Guard(
            ask: asks ? Flow.Guard.Ask("command.Ask", data: ["id": value()]) : nil,
            accept: Flow.Guard.Answer("event.Answer", where: ["ok": true]),
            reject: rejects ? Flow.Guard.Answer("event.Answer", "event.B", where: ["ok": false]) : nil,
            deadline: .seconds(5), meanwhile: pick(Flow.Guard.Meanwhile.allCases),
            rejected: random.chance(1, in: 2) && rejects ? actions(inChild: inChild) : [],
            expired: random.chance(1, in: 2) ? actions(inChild: inChild) : [])
    }

    // MARK: Actions

    private mutating func actions(inChild: Bool) -> [Flow.Action] {
        (0...Int.random(in: 0...2, using: &random)).map { _ in action(inChild: inChild) }
    }

    private mutating func action(inChild: Bool) -> Flow.Action {
        let stack: Flow.Stack? =
            random.chance(1, in: 8) ? .column(pick(["left", "right"])) : random.chance(1, in: 8) ? .sender : nil
        switch Int.random(in: 0..<(inChild ? 28 : 26), using: &random) {
        case 0: return .setRoot(destination())
        case 1: return .setRoot(destination(), container: .split)
        case 2: return .setRoot(destination(), container: tabs())
        case 3, 4, 5: return .push(destination(), on: stack)
        case 6, 7: return .pushFlow(pick(Self.children), arguments: arguments(), on: stack)
        case 8: return .pop(pick([.count(1), .count(2), .to("a"), .from("b"), .sender, .to("c")]))
        case 9: return .pop(.count(1), column: pick(["left", "right"]))
        case 10: return .goTo(destination())
        case 11: return .back
        case 12: return .popToRoot
        case 13: return .replacePath([destination(), destination()])
        case 14, 15:
            return .present(
                destination(), as: pick([.sheet, .fullScreen, .popover, .window]),
                options: PresentationOptions(
                    detents: [.medium], interactiveDismissal: random.chance(1, in: 3) ? false : nil))
        case 16: return .present(destination(), as: pick([.alert, .dialog]), options: question(inChild))
        case 17:
            return .presentFlow(pick(Self.children), arguments: arguments(), as: pick([.sheet, .popover, .window]))
        case 18: return .dismiss(pick([nil, .sender, .screen("b"), .screen("c")]))
        case 19: return .dismissAll
        case 20: return .selectTab(pick(["b", "c", "more"]))
        case 21: return .show(destination(), column: pick(["left", "right"]))
        case 22: return .update(.screen(pick(Self.screens), ["id": value()]))
        case 23: return .openURL(pick(["https://example.org/${data.id}", "${data.id}", "test:${sender.id}"]))
        case 24: return .send(type: "command.Sent", data: ["id": value(), "list": [value(), ["deep": value()]]])
        case 25: return .ifPossible(action(inChild: false))
        case 26: return .finish(result: ["id": value()])
        default: return .abandon
        }
    }

    private mutating func question(_ inChild: Bool) -> PresentationOptions {
        PresentationOptions(
            title: "Sure, ${data.id:-you}?", message: random.chance(1, in: 2) ? "No $${data.id}" : nil,
            buttons: [
                AlertButton(id: "ok", title: "Yes", sends: "command.A", data: ["id": value()]),
                AlertButton(id: "go", title: "Go ${data.n:-on}", do: [action(inChild: inChild)]),
                AlertButton(id: "no", title: "No", role: .cancel),
            ])
    }

    private mutating func tabs() -> Flow.Layout {
        .tabs(["b", "c", .tab("more", destination())], history: random.chance(1, in: 2))
    }

    private mutating func destination() -> Flow.Destination { .screen(pick(Self.screens), arguments()) }

    private mutating func arguments() -> [String: JSONValue] {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: ["id": value()]
        case 1: ["id": value(), "n": value()]
        default: [:]
        }
    }

    private mutating func value() -> JSONValue {
        random.chance(1, in: 6)
            ? pick(["${sender.id}", "${answer.by}", "${screens.b.id}", "${arguments.n}", "id-${data.more}"])
            : pick([
                "x", 1, true, "${data.id}", "${data.id}", "${data.n?}", "${data.id:-x}", "${arguments.id:-1}",
                "${screens.b.id:-2}", "id-${data.n:-0}", "$${data.id}", "${data.more.deep:-z}", "${data.list.0?}",
                "${sender.id:-s}", ["deep": ["${data.n:-1}"]],
            ])
    }

    // MARK: Links

    private mutating func link() -> Flow.Part {
        let number = Int.random(in: 0..<Self.links.count, using: &random)
        let url = Self.links[number]
        let when: [Flow.Condition] = random.chance(1, in: 3) ? [.root(.screen(pick(Self.screens)))] : []
        let unless: [Flow.Condition] = random.chance(1, in: 4) ? [.presented(.screen(pick(Self.screens)))] : []
        let over: [PresentationStyle: Flow.Precedence] = [
            pick(PresentationStyle.allCases): pick([.dismiss, .wait, .refuse])
        ]
        let target: Flow.Link.Target =
            switch number {
            case 0: .init(root: "a", path: [.screen("b", ["id": "${url.id}"]), .screen("c", ["n": "${url.q:-1}"])])
            case 1:
                .init(
                    root: .init("b", container: .split),
                    columns: ["left": .screen("c", ["n": "${url.n}"], path: [.screen("d")]), "right": "a"])
            case 2: .init(root: .init("c", container: .tabs(["b", "c"])), tab: "c", path: ["d"])
            default: .init(path: ["b"], present: .init(.screen("c", ["id": "${url.id:-y}"]), as: .sheet))
            }
        let park: Duration = pick([.zero, .seconds(600), .seconds(7200)])
        switch number {
        case 3:
            return .link(Flow.Link(url, when: when, redirect: "test:one/${url.id}?q=r"))
        case 4:
            return .link(
                Flow.Link(url, when: when, action: true, send: [.init("command.B", ["id": "${url.id:-none}"])]))
        default:
            return .link(
                Flow.Link(
                    url, when: when, unless: unless, to: target,
                    otherwise: random.chance(1, in: 4) ? .init(path: ["d"]) : nil,
                    send: random.chance(1, in: 4) ? [.init("command.A")] : [], park: park, over: over))
        }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }
}
