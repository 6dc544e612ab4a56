internal import Support

/// The difference between two snapshots of a session on one platform, in words: `list → push brew-2 {minutes: 1}`.
public struct NavigationChange: Hashable, Sendable {
    public let platform: String
    /// The name of the screen that was in front before. Nil if the state before is not known.
    public let from: String?
    /// The changes of the screens, in order. If the state before is not known, the screens that are shown.
    public let screens: [String]
    /// The changes besides the screens: child flows, waiting guards and rules, a parked link.
    public let others: [String]
    /// The key of the rule or link that led to the state, as in ``NavigationSnapshot/rule``. Nil if there is none.
    public let rule: String?

    /// - Parameter former: The last snapshot before. Nil if it is not known.
    public init(to snapshot: NavigationSnapshot, from former: NavigationSnapshot?) {
        platform = snapshot.platform
        rule = snapshot.rule
        guard let former, former.session == snapshot.session, former.platform == snapshot.platform else {
            from = nil
            let verb = snapshot.revision == 0 ? "starts at" : "shows"
            screens = snapshot.state.shown.map { "\(verb) \($0.words)" }
            others = []
            return
        }
        let words = ChangeWords(
            former: former.state, state: snapshot.state,
            linkRule: snapshot.rule.flatMap { $0.begins(with: "links[") ? $0 : nil }, formerRule: former.rule)
        from = former.state.front.screen
        screens = words.screens
        others = words.runs + words.attempts + words.waits + words.link
    }

    /// True if nothing has changed that a person sees: for example, a screen has been animated out.
    public var isEmpty: Bool { screens.isEmpty && others.isEmpty }
}

extension NavigationChange: CustomStringConvertible {
    /// The changes of the screens, the first of them after the screen before, then the other changes.
    package var parts: [String] {
        guard let first = screens.first else { return others }
        return [from.map { "\($0) → \(first)" } ?? first] + screens.dropFirst() + others
    }

    /// The change on one line, without the platform and the rule.
    public var description: String { parts.joined(separator: " · ") }
}

extension ScreenInstance {
    /// The instance and its arguments, for a person: `brew-2 {minutes: 1}`.
    package var words: String { arguments.isEmpty ? id : "\(id) \(JSONValue.object(arguments).summary)" }
}

/// The words for the differences between two states.
private struct ChangeWords {
    let former: NavigationState
    let state: NavigationState
    /// The place of the deep link that led to the state. Nil if it was not a link.
    let linkRule: String?
    /// The place of the rule or link that led to the former state. It stays the same while screens are animated out.
    let formerRule: String?

    /// The maximum number of steps that are told.
    private static let stepLimit = 12

    var screens: [String] {
        let steps = state.steps(from: former)
        return steps.prefix(Self.stepLimit).map(text) + (steps.count > Self.stepLimit ? ["…"] : [])
    }

    private func text(of step: NavigationStep) -> String {
        switch step {
        case .setRoot(let root): "root \(root.instance.words)\(container(root))"
        case .selectTab(let tab): "tab \(tab)"
        case .show(nil, let column): "column \(column) emptied"
        case .show(let stack?, let column):
            "column \(column): \(stack.instances.map(\.words).joined(separator: ", "))"
        case .push(let instances, on: let layer): "push \(list(instances))\(words(of: layer))"
        case .pop(count: _, from: let layer): "back to \(top(of: layer))\(words(of: layer))"
        case .replace(count: _, with: let instances, on: let layer): "replace by \(list(instances))\(words(of: layer))"
        case .present(let presentation, window: _):
            "\(presentation.style.words) \(presentation.instances.map(\.words).joined(separator: ", "))"
        case .dismiss(let instance): "\(style(of: instance))\(instance) closed"
        case .update(let instance): "\(instance.words) changed"
        }
    }

    private func list(_ instances: [ScreenInstance]) -> String { instances.map(\.words).joined(separator: ", ") }

    private func container(_ root: RootScreen) -> String {
        switch root.container {
        case .tabs(let tabs, let selected):
            " with tab \(selected)\(path(of: tabs.first { $0.name == selected }?.stack))"
        case .split(let columns) where columns.isEmpty: ""
        case .split(let columns):
            " with columns "
                + columns.sorted { $0.key < $1.key }.map { "\($0)\(path(of: $1))" }.joined(separator: ", ")
        case nil: ""
        }
    }

    private func path(of stack: ScreenStack?) -> String {
        guard let path = stack?.path, !path.isEmpty else { return "" }
        return ": \(list(path))"
    }

    /// The place of a path that is not the front one. Empty for the front path.
    private func words(of layer: NavigationStep.Layer) -> String {
        guard layer != frontLayer else { return "" }
        return switch layer {
        case .root: state.presentations.contains { $0.style == .window } ? " in the main window" : ""
        case .tab(let name): " in tab \(name)"
        case .column(let name): " in column \(name)"
        case .presentation(let instance): " on \(instance)"
        }
    }

    private var frontLayer: NavigationStep.Layer {
        state.presentations.last.map { .presentation(instance: $0.instance.id) }
            ?? state.root.container?.selectedTab.map { .tab($0) } ?? .root
    }

    /// The screen on top of a path after the change.
    private func top(of layer: NavigationStep.Layer) -> String {
        let scope = state.scope(of: layer)
        return scope.flatMap { state[$0].last ?? state.base(of: $0) }?.id ?? state.top.id
    }

    private func style(of instance: String) -> String {
        former.presentations.first { $0.instance.id == instance }.map { "\($0.style.words) " } ?? ""
    }

    var runs: [String] {
        let (before, after) = (Set(former.runs.map(\.id)), Set(state.runs.map(\.id)))
        return former.runs.filter { !after.contains($0.id) }.map { "flow \($0.flow) ends" }
            + state.runs.filter { !before.contains($0.id) }.map { "flow \($0.flow) begins" }
    }

    /// The beginnings and the ends of attempts. If screens have changed as well, the ends are not worth a word.
    var attempts: [String] {
        let ended = former.attempts.filter { attempt in !state.attempts.contains { $0.id == attempt.id } }
        let ends = screens.isEmpty ? ended.map { "\(name(of: $0.message)) waits no longer" } : []
        return ends
            + state.attempts.flatMap { attempt in
                guard let before = former.attempts.first(where: { $0.id == attempt.id }) else {
                    return ["\(name(of: attempt.message)) waits for an answer"]
                }
                return attempt.queue.dropFirst(before.queue.count).map { "\(name(of: $0)) is held back" }
            }
    }

    /// The beginnings of waits.
    var waits: [String] {
        state.waits.filter { wait in wait.isOver != true && !former.waits.contains { $0.id == wait.id } }
            .map { "waits \(Duration.milliseconds($0.delay).text)" }
    }

    /// The type of a message without its kind.
    private func name(of message: Machine.Input) -> String {
        String(message.type.cut(at: ".")?.after ?? message.type[...])
    }

    var link: [String] {
        switch (former.parked, state.parked) {
        case (let before, let link?) where link != before: ["link \(JSONValue.string(link.url).summary) waits"]
        case (let before?, nil):
            [
                "link \(JSONValue.string(before.url).summary) "
                    + (linkRule != nil && (linkRule != formerRule || !screens.isEmpty)
                        ? "is followed" : "waits no longer")
            ]
        default: []
        }
    }
}

extension PresentationStyle {
    /// The style in words: `full screen`.
    fileprivate var words: String { self == .fullScreen ? "full screen" : rawValue }
}
