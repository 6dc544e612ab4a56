import Navigation
import Support
import TestSupport

/// Makes the messages of a random session: those that rules of a ``RandomFlow`` or a sample flow answer, answers to
/// guards, deadlines, views' reports, requests and links. They name open, dismissed and unknown instances, some lack
/// fields, and some arrive twice.
struct RandomMessages {
    private var random: SeededGenerator
    private let types: [String]
    private let values: [JSONValue]
    private let urls: [String]
    private var count = 0
    private var time = 0
    private var last: Machine.Input?
    /// The ids of former messages and attempts, which answers may name.
    private var former: [String] = ["ghost"]

    init(for flow: Flow, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        types = flow.messageTypes.filter { !Self.reports.contains($0) }.sorted() + RandomFlow.types
        let named = flow.allTransitions.flatMap { rule in rule.fields.values.flatMap(\.values) }
        values = named + named + ["x", "y", 1, 2, "Bach", "${data.id}"]
        urls = flow.links.map(\.url) + RandomFlow.links
    }

    private static let reports = [
        "command.BackStarted", "command.BackCancelled", "command.BackCompleted", "command.PresentationDismissed",
        "command.AlertAnswered", "command.TabSelected", "command.ScreenGone", "command.ScreenDisplayed",
        "command.NavigationRequested", Machine.deadlinePassed, Machine.deepLinkReceived,
    ]

    mutating func next(for state: NavigationState, platform: String) -> Machine.Input {
        if let last, random.chance(1, in: 40) { return last }
        count += 1
        time += Int.random(in: 0...400_000, using: &random)
        let open = (state.open + state.leaving).map(\.id)
        let instance = random.chance(1, in: 20) ? "ghost-1" : random.chance(1, in: 2) ? state.front.id : pick(open)
        let (type, data) = body(for: state, instance)
        let waiting = state.attempts.map(\.id)
        let cause: String? =
            !waiting.isEmpty && random.chance(1, in: 2) ? pick(waiting) : random.chance(1, in: 4) ? pick(former) : nil
        let input = Machine.Input(
            id: random.chance(1, in: 60) ? String(repeating: "long", count: 40) + "\(count)" : "m\(count)",
            type: type, data: data,
            attributes: Machine.Attributes(
                platform: random.chance(1, in: 12) ? "other" : pick([nil, platform]), device: pick([nil, "d1"]),
                instance: random.chance(1, in: 2) ? instance : nil, causationID: cause,
                time: random.chance(1, in: 20) ? nil : time,
                expiry: random.chance(1, in: 12) ? time + Int.random(in: -10...800_000, using: &random) : nil))
        if former.count > 12 { former.removeFirst() }
        former.append(random.chance(1, in: 2) ? input.id : waiting.first ?? input.id)
        last = input
        return input
    }

    private mutating func body(for state: NavigationState, _ instance: String) -> (String, JSONValue) {
        // Otherwise more screens leave than are gone.
        if state.leaving.count > 4, random.chance(1, in: 2) {
            return ("command.ScreenGone", ["instance": .string(pick(state.leaving).id)])
        }
        switch Int.random(in: 0..<20, using: &random) {
        case 0...11: return (pick(types), fields())
        case 12...14: return (pick(Self.reports), report(on: state, instance))
        case 15: return ("command.ScreenGone", ["instance": .string(state.leaving.first?.id ?? instance)])
        case 16: return (Machine.deadlinePassed, ["attempt": .string(pick(state.awaitedDeadlines + former))])
        case 17:
            return ("event.Answer", ["ok": pick([true, true, false, "maybe"] as [JSONValue]), "by": pick(values)])
        case 18: return (Machine.deepLinkReceived, ["url": pick([.string(url()), .string(url()), 1, "test:tab", ":"])])
        default: return ("command.NavigationRequested", request())
        }
    }

    private mutating func fields() -> JSONValue {
        if random.chance(1, in: 30) {
            let odd: [JSONValue] = [.null, [], "text", ["id": ["deep": 1]], ["n": 1e300]]
            return pick(odd)
        }
        var fields: [String: JSONValue] = [:]
        for name in ["id", "n", "playlistID", "status", "name", "step", "ok", "itemID", "url"]
        where random.chance(7, in: 8) {
            fields[name] = pick(name == "n" ? [0, 1, 2, "1", .null] as [JSONValue] : values)
        }
        if random.chance(1, in: 3) { fields["more"] = ["deep": pick(values)] }
        if random.chance(1, in: 10) { fields["list"] = [pick(values)] }
        return .object(fields)
    }

    private mutating func report(on state: NavigationState, _ instance: String) -> JSONValue {
        var fields: [String: JSONValue] = [
            "button": .string(pick(["ok", "go", "no", "open", "cancel"])),
            "tab": .string(pick((state.root.container.map { _ in ["b", "c", "more", "d"] } ?? ["b"]))),
            "revision": .integer(Int.random(in: 0...30, using: &random)),
            "attempt": .string(pick(state.awaitedDeadlines + former)), "url": .string(url()),
        ]
        let presented = state.presentations.map(\.instance.id)
        fields["instance"] = .string(
            random.chance(1, in: 3) && !presented.isEmpty
                ? pick(presented) : random.chance(1, in: 4) ? state.root.instance.id : instance)
        if random.chance(1, in: 12) { fields["instance"] = nil }
        return .object(fields)
    }

    private mutating func request() -> JSONValue {
        let screen = pick(RandomFlow.screens)
        let actions: [JSONValue] = [
            ["push": .string(screen)], ["push": ["screen": .string(screen), "arguments": ["id": "${data.id}"]]],
            ["pop": .integer(pick([1, 2, -1, 99]))], "pop", "back", "popToRoot", ["goTo": .string(screen)],
            ["present": ["screen": .string(screen), "style": "sheet"]], "dismiss", ["setRoot": .string(screen)],
            ["selectTab": "c"], ["openURL": "test:x"], ["openURL": "nowhere"], ["finish": ["id": 1]], "nonsense",
        ]
        return random.chance(1, in: 20) ? [:] : ["action": pick(actions)]
    }

    private mutating func url() -> String {
        let pattern = pick(urls)
        var url = ""
        var isInside = false
        for character in pattern {
            if character == "{" {
                isInside = true
                url += pick(["1", "2", "x", "a%2Fb", "", "%C3%BC"])
            }
            if !isInside { url.append(character) }
            if character == "}" { isInside = false }
        }
        return url
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }
}
