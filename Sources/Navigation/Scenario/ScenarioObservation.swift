/// How a state and effects look in each aspect: lists of what is there, or lists by name.
struct ScenarioObservation {
    private let machine: Machine
    private let effects: [Machine.Effect]

    init(_ machine: Machine, _ effects: [Machine.Effect] = []) {
        self.machine = machine
        self.effects = effects
    }

    subscript(aspect: Scenario.Aspect) -> JSONValue {
        let state = machine.state
        return switch aspect {
        case .root: [Self.root(state.root)]
        case .top: [Self.screen(state.top)]
        case .path: .array(state[state.bottomPlace].map(Self.screen))
        case .presented: .array(state.presentations.map(Self.presentation))
        case .columns: .object(columns)
        case .tab: .array((state.root.container?.selectedTab).map { [.string($0)] } ?? [])
        case .tabs: .object(tabs(beside: nil))
        case .leaving: .array(state.leaving.map(Self.screen))
        case .runs: .array(state.runs.map { ["flow": .string($0.flow), "run": .string($0.id)] })
        case .attempt: .array(state.attempt.map { [Self.message($0.message)] } ?? [])
        case .queue: .array(state.attempt?.queue.map(Self.message) ?? [])
        case .parked: .array(state.parked.map { [.string($0.url)] } ?? [])
        case .commands: .array(machine.snapshot.commands.map { .string($0) })
        case .sent, .opened, .dismissed, .discarded, .failed:
            .array(effects.compactMap { Self.trace($0) }.filter { $0.aspect == aspect }.map(\.value))
        }
    }

    /// What has changed, as it is now, and what was done.
    func changes(from former: ScenarioObservation) -> [Scenario.Aspect: JSONValue] {
        let changed = Scenario.Aspect.allCases.filter { differs(from: former, in: $0) }
        return Dictionary(uniqueKeysWithValues: changed.map { ($0, self[$0]) })
    }

    /// Whether an aspect of the state differs from how it was before.
    func differs(from former: ScenarioObservation, in aspect: Scenario.Aspect) -> Bool {
        guard aspect == .tabs else { return self[aspect] != former[aspect] }
        // What lies on the selected tab is the path.
        let selected = machine.state.root.container?.selectedTab
        return tabs(beside: selected) != former.tabs(beside: selected)
    }

    /// Whether something differs for which there is no aspect.
    func differsOtherwise(from former: ScenarioObservation) -> Bool {
        var state = former.machine.state
        state.root = machine.state.root
        state.path = machine.state.path
        state.presentations = machine.state.presentations
        state.leaving = machine.state.leaving
        state.runs = machine.state.runs
        state.attempt = machine.state.attempt
        state.parked = machine.state.parked
        return state != machine.state
    }

    private var columns: [String: JSONValue] {
        guard case .split(let columns) = machine.state.root.container else { return [:] }
        return columns.mapValues { .array($0.instances.map(Self.screen)) }
    }

    private func tabs(beside selected: String?) -> [String: JSONValue] {
        guard case .tabs(let tabs, _) = machine.state.root.container else { return [:] }
        let members = tabs.map { tab in
            let instances = tab.name == selected ? [tab.stack.instance] : tab.stack.instances
            return (tab.name, JSONValue.array(instances.map(Self.screen)))
        }
        return Dictionary(members) { first, _ in first }
    }

    private static func screen(_ instance: ScreenInstance) -> JSONValue {
        .object(members: members(of: instance))
    }

    private static func members(of instance: ScreenInstance) -> [(String, JSONValue?)] {
        [
            ("screen", .string(instance.screen)), ("instance", .string(instance.id)),
            ("arguments", instance.arguments.isEmpty ? nil : .object(instance.arguments)),
        ]
    }

    private static func root(_ root: RootScreen) -> JSONValue {
        let container: JSONValue? =
            switch root.container {
            case .split: "split"
            case .tabs: "tabs"
            case nil: nil
            }
        return .object(members: members(of: root.instance) + [("container", container)])
    }

    private static func presentation(_ presentation: Presentation) -> JSONValue {
        .object(
            members: members(of: presentation.instance) + [
                ("style", .string(presentation.style.rawValue)),
                ("title", presentation.options.title.map { .string($0) }),
                ("message", presentation.options.message.map { .string($0) }),
                ("path", presentation.path.isEmpty ? nil : .array(presentation.path.map(screen))),
            ])
    }

    private static func message(_ input: Machine.Input) -> JSONValue {
        ["type": .string(input.type), "id": .string(input.id)]
    }

    /// What an effect leaves to be seen. That a view or an answer is waited for shows in the state.
    private static func trace(_ effect: Machine.Effect) -> (aspect: Scenario.Aspect, value: JSONValue)? {
        switch effect {
        case .openURL(let url): (.opened, .string(url))
        case .send(let type, let data): (.sent, sent(type, data))
        case .ask(let id, let type, let data, _, _): (.sent, sent(type, data, id: id))
        case .screenDismissed(let instance, let screen):
            (.dismissed, ["screen": .string(screen), "instance": .string(instance)])
        case .messageDiscarded(let id, let reason): (.discarded, ["message": .string(id), "reason": .string(reason)])
        case .failed(let failure):
            (.failed, ["code": .string(failure.code), "reason": .string(failure.description)])
        // That it was discarded is seen.
        case .began, .passed, .expectAnswer, .expectScreenGone, .commandExpired: nil
        }
    }

    private static func sent(_ type: String, _ data: JSONValue, id: String? = nil) -> JSONValue {
        .object(members: [
            ("type", .string(type)), ("id", id.map { .string($0) }), ("data", data == [:] ? nil : data),
        ])
    }
}
