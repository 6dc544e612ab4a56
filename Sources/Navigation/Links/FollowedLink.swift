internal import Support

/// A deep link with the values of one URL, which is about to be followed. It determines which screens are kept.
///
/// An instance that differs in a value of the URL's path is replaced by a new instance. An instance that differs only
/// in values of the query is kept and gets other arguments.
struct FollowedLink {
    let prepared: PreparedLink
    /// The screens that are opened.
    let target: LinkTarget
    let values: [String: JSONValue]
    /// True if the target is the link's `otherwise`.
    var isOtherwise = false

    var link: Flow.Link { prepared.link }

    /// True if this instance is kept in the place of `screen`.
    func keeps(_ instance: ScreenInstance, as screen: LinkScreen) -> Bool {
        guard instance.screen == screen.name, instance.run == nil,
            instance.arguments.keys.allSatisfy({ screen.arguments[$0] != nil })
        else { return false }
        let wanted = filled(screen.arguments)
        return screen.arguments.allSatisfy { name, argument in
            let own = instance.arguments[name]
            if let placeholder = argument.placeholder, link.pattern?.isInPath(placeholder) == false {
                return own.map { $0.argumentText != nil } ?? true
            }
            guard let own, let wanted = wanted[name] else { return own == nil && wanted[name] == nil }
            return own.isSameArgument(as: wanted)
        }
    }

    /// The kept instance, with the arguments for the URL's values.
    func updated(_ instance: ScreenInstance, as screen: LinkScreen) -> ScreenInstance {
        if prepared.isFilled(instance, as: screen, from: values) { return instance }
        var updated = instance
        updated.arguments = filled(screen.arguments)
        return updated
    }

    func keepsRoot(of state: NavigationState) -> Bool {
        guard let root = target.root else { return true }
        guard root.fits(state.root.container), keeps(state.root.instance, as: root.screen) else { return false }
        guard let tab = target.tab, let first = target.first else { return true }
        return state.base(of: .tab(tab)).map { keeps($0, as: first) } ?? false
    }

    /// The number of screens of a path that are kept, from the bottom up.
    func kept(_ path: [ScreenInstance], as wanted: [LinkScreen]) -> Int {
        zip(wanted, path).prefix { keeps($1, as: $0) }.count
    }

    private func keepsAll(_ path: [ScreenInstance], as wanted: [LinkScreen]) -> Bool {
        path.count == wanted.count && kept(path, as: wanted) == path.count
    }

    /// The number of presentations that are kept: 1 if the lowest presentation is the target's and all screens beneath
    /// it are kept, otherwise 0.
    func keptPresentations(of state: NavigationState) -> Int {
        guard let present = target.present, let presentation = state.presentations.first,
            presentation.style == present.style, keeps(presentation.instance, as: present.screen),
            keepsRoot(of: state), target.keepsTab(of: state), keepsColumns(of: state),
            keepsAll(state[state.bottomScope], as: target.path)
        else { return 0 }
        return 1
    }

    private func keepsColumns(of state: NavigationState) -> Bool {
        let open = state.columns
        return Set(open.keys) == Set(target.columns.keys)
            && target.columns.allSatisfy { keepsAll(open[$0]?.instances ?? [], as: $1) }
    }

    /// The strictest treatment among the presentations that are not kept: `refuse`, then `wait`, then `dismiss`.
    func precedence(in state: NavigationState) -> Flow.Precedence {
        let precedences = state.presentations.dropFirst(keptPresentations(of: state)).map {
            link.precedence(over: $0.style)
        }
        if precedences.contains(.refuse) { return .refuse }
        return precedences.contains(.wait) ? .wait : .dismiss
    }
}

extension FollowedLink {
    /// True if the link's target is open in the state, with the link's values.
    func isThere(_ state: NavigationState) -> Bool {
        guard isOtherwise || prepared.to != nil && prepared.isOn(state.root.instance.screen) else { return false }
        return prepared.isOpen(target, with: values, in: state)
    }

    /// The maximum time for which the link stays parked, in milliseconds.
    var park: Int { link.isAction ? 0 : link.park.milliseconds }

    /// The screens that are opened if the conditions do not hold. Nil if there are none.
    var otherwise: FollowedLink? {
        prepared.otherwise.map { FollowedLink(prepared: prepared, target: $0, values: values, isOtherwise: true) }
    }

    /// The URL to which the link leads. Nil if it is not a redirect, or if a value would leave the redirect's path.
    var redirected: String? {
        link.redirect.flatMap { LinkTemplate($0) }?.filled { name, fallback in
            let text = values[name]?.argumentText
            guard let text = fallback != nil && text == "" ? fallback : text ?? fallback else { return nil }
            let isRest = link.pattern?.hasRest == true && link.pattern?.inPath.last?.name == name
            return isRest ? URLPattern.encode(rest: text) : PercentEncoding.encode(text)
        }
    }

    /// Arguments or data, filled in with the values of the URL.
    func filled(_ members: [String: LinkArgument]) -> [String: JSONValue] { prepared.filled(members, from: values) }
}

extension Machine {
    /// Starts a session in a state with the screens of a target, for tests. Its arguments are constants.
    package init(flow: Flow, showing target: Flow.Link.Target) {
        let start = Machine(flow: flow)
        var step = start.step(for: Input(id: "begin", type: Self.deepLinkReceived))
        let link = PreparedLink(Flow.Link("", to: target), index: 0)
        step.follow(FollowedLink(prepared: link, target: LinkTarget(target), values: [:]))
        // No view has shown the start screen.
        step.state.leaving = []
        var memory = start.memory
        memory.record(step.entries, instances: step.instances)
        self.init(flow: flow, session: start.session, revision: 0, state: step.state, cause: nil, memory: memory)
    }
}
