import Support
import Testing

@testable import Navigation

@Suite("Description of a change")
struct NavigationChangeTests {
    private let list = ScreenInstance(screen: "list", id: "list-1")
    private let item = ScreenInstance(screen: "item", id: "item-2", arguments: ["itemID": "a b", "count": 3])
    private let other = ScreenInstance(screen: "other", id: "other-3")

    private func snapshot(_ state: NavigationState, revision: Int = 1, rule: String? = nil) -> NavigationSnapshot {
        NavigationSnapshot(
            platform: "ios", session: "default", revision: revision,
            flow: FlowIdentity(name: "shop", version: 1, hash: "h"), cause: "m", rule: rule, commands: [], state: state,
            memory: NavigationMemory())
    }

    private func words(_ former: NavigationState, _ state: NavigationState, rule: String? = nil) -> String {
        NavigationChange(to: snapshot(state, rule: rule), from: snapshot(former, revision: 0)).description
    }

    private func state(
        root: ScreenInstance? = nil, path: [ScreenInstance] = [], _ presentations: [Presentation] = []
    ) -> NavigationState {
        NavigationState(root: RootScreen(root ?? list), path: path, presentations: presentations)
    }

    @Test("A push names the screen before, and the new instance with its arguments")
    func push() {
        #expect(words(state(), state(path: [item])) == "list → push item-2 {count: 3, itemID: a b}")
    }

    @Test("A step back names the screen that is on top afterwards")
    func pop() {
        #expect(words(state(path: [item, other]), state(path: [item])) == "other → back to item-2")
        #expect(words(state(path: [item, other]), state()) == "other → back to list-1")
        #expect(words(state(path: [item]), state(path: [other])) == "item → replace by other-3")
        #expect(words(state(path: [item]), state(root: other)) == "item → root other-3")
    }

    @Test("Presentations open and close by their style", arguments: PresentationStyle.allCases)
    func presentation(style: PresentationStyle) {
        let name = style == .fullScreen ? "full screen" : style.rawValue
        let presented = state([Presentation(style, other)])
        #expect(words(state(), presented) == "list → \(name) other-3")
        #expect(words(presented, state()) == "other → \(name) other-3 closed")
    }

    @Test("A path that is not in front is named")
    func places() {
        func tabs(_ path: [ScreenInstance], selected: String) -> NavigationState {
            let stacks = [
                Container.Tab("a", ScreenStack(item, path: path)), Container.Tab("b", ScreenStack(other, path: [])),
            ]
            return NavigationState(root: RootScreen(list, container: .tabs(stacks, selected: selected)))
        }
        let pushed = ScreenInstance(screen: "more", id: "more-4")
        #expect(words(tabs([], selected: "a"), tabs([pushed], selected: "a")) == "item → push more-4")
        #expect(words(tabs([], selected: "b"), tabs([pushed], selected: "b")) == "other → push more-4 in tab a")
        #expect(words(tabs([], selected: "a"), tabs([], selected: "b")) == "item → tab b")
    }

    @Test("An attempt and a queued message are described, and the attempt's end only if no screen changes")
    func attempt() {
        var waiting = state()
        let message = Machine.Input(id: "m1", type: "command.ItemSelected")
        waiting.attempts = [
            PendingGuard(id: "g", rule: "r", instance: "list-1", run: nil, deadline: .seconds(1), message: message)
        ]
        #expect(words(state(), waiting) == "ItemSelected waits for an answer")
        #expect(words(waiting, state()) == "ItemSelected waits no longer")
        #expect(words(waiting, state(path: [other])) == "list → push other-3")
        var holding = waiting
        holding.attempts[0].queue.append(Machine.Input(id: "m2", type: "command.Saved"))
        #expect(words(waiting, holding) == "Saved is held back")
        var both = waiting
        both.attempts.append(
            PendingGuard(
                id: "h", rule: "r", instance: "other-3", run: nil, deadline: .seconds(1),
                message: Machine.Input(id: "m3", type: "command.Sent")))
        #expect(words(waiting, both) == "Sent waits for an answer")
        #expect(words(both, waiting) == "Sent waits no longer")
    }

    @Test("The beginning and the end of a link's waiting are described")
    func link() {
        var waiting = state()
        waiting.parked = ParkedLink(url: "shop://item/1", messageID: "m", expires: 1)
        #expect(words(state(), waiting) == "link shop://item/1 waits")
        #expect(words(waiting, state()) == "link shop://item/1 waits no longer")
        #expect(
            words(waiting, state(path: [other]), rule: "links[0]")
                == "list → push other-3 · link shop://item/1 is followed")
    }

    @Test("The beginning of a wait is described")
    func wait() {
        var waiting = state()
        waiting.waits = [PendingWait(id: "w", rule: "r", run: nil, delay: .seconds(3))]
        #expect(words(state(), waiting) == "waits 3s")
        var over = waiting
        over.waits[0].isOver = true
        #expect(words(waiting, over) == "" && words(waiting, state()) == "")
    }

    @Test("A new root is described with the screens on its tab or in its columns")
    func container() {
        let stack = ScreenStack(item, path: [other])
        var tabs = state(root: other)
        tabs.root.container = .tabs([.init("shop", stack)], selected: "shop")
        #expect(words(state(), tabs) == "list → root other-3 with tab shop: other-3")
        tabs.root.container = .split(columns: ["detail": stack, "list": ScreenStack(list)])
        #expect(words(state(), tabs) == "list → root other-3 with columns detail: other-3, list")
    }

    @Test("The end of an animation is not described")
    func leaving() {
        var before = state()
        before.leaving = [item]
        let change = NavigationChange(to: snapshot(state()), from: snapshot(before))
        #expect(change.isEmpty && change.description == "")
    }

    @Test("A change without a former state lists the screens, or the start of a session")
    func unknown() {
        let shown = state([Presentation(.sheet, other)])
        #expect(NavigationChange(to: snapshot(shown), from: nil).description == "shows list-1 · shows other-3")
        #expect(NavigationChange(to: snapshot(state(), revision: 0), from: nil).description == "starts at list-1")
    }

    @Test("Long texts and large values are cut")
    func long() {
        let text = String(repeating: "x", count: 1000)
        let large = ScreenInstance(
            screen: "item", id: "item-2",
            arguments: ["a": .string(text), "b": .array(Array(repeating: 1, count: 1000)), "c": ["d": ["e": 1]]])
        let words = words(state(), state(path: [large]))
        #expect(words == "list → push item-2 {a: \(text.prefix(40))…, b: [1000], c: {…}}")
    }
}

@Suite("The location of a rule")
struct RuleLocationTests {
    private func flow(_ comment: Bool) throws -> Flow {
        try Flow("shop", version: 1, platform: "ios", start: "list") {
            Flow.Screen("list", sends: ["command.A"])
            if comment {
                Flow.Transition(on: "command.A", do: [.push(.screen("list"))])
            } else {
                Flow.Transition(on: "command.A", do: [.push(.screen("list"))])
            }
        }
    }

    @Test("A flow in Swift has the file and line of each rule, which do not change its hash")
    func swift() throws {
        let (first, second) = (try flow(true), try flow(false))
        let (a, b) = (first.ruleLocations["transitions[0]"], second.ruleLocations["transitions[0]"])
        #expect(a?.description.hasPrefix("NavigationChangeTests.swift:") == true)
        #expect(a?.line != b?.line && a == b)
        #expect(first == second && first.hash == second.hash && first.hashValue == second.hashValue)
        #expect(Machine(flow: first).snapshot == Machine(flow: second).snapshot)
    }
}
