/// The point from which a rule sees the state. It determines the parts that the conditions `top`, `path` and `sender`
/// examine, and the stack that the actions change.
///
/// The first of these that is open determines the stack: ``layer``, the screens of ``run``, ``window``, and otherwise
/// the window in front.
struct Focus: Hashable, Sendable {
    /// The open instance that sent the message. Nil if the message names no open instance.
    var sender: ScreenInstance?
    /// The window of the sender. Nil if there is no sender.
    var window: NavigationState.Window?
    /// The id of the run whose rule is tried. Nil for a rule of the flow itself.
    var run: String?
    /// The layer that the step works on: the layer of the ended child flow whose end a rule handles, or the layer that
    /// an earlier action of the step has opened or selected.
    var layer: NavigationStep.Layer?
}

extension NavigationState {
    /// A window with its own presentations. Screens in one window do not cover those in another one.
    enum Window: Hashable, Sendable {
        /// The window of the root.
        case main
        /// The presentation of the instance with this id, which has the style `window`.
        case presented(String)
    }

    /// The presentations in the main window.
    ///
    /// They come before the first presentation with the style `window`.
    private var mainPresentations: Range<Int> {
        0..<(presentations.firstIndex { $0.style == .window } ?? presentations.endIndex)
    }

    /// The presentations of the window to which the presentation at `index` belongs.
    func presentations(around index: Int) -> Range<Int> {
        let first = presentations[...index].lastIndex { $0.style == .window } ?? 0
        let next = presentations[(index + 1)...].firstIndex { $0.style == .window }
        return first..<(next ?? presentations.endIndex)
    }

    /// The presentations of the window in which a path lies.
    func presentations(inWindowOf scope: PathScope) -> Range<Int> {
        if case .presentation(let index) = scope { presentations(around: index) } else { mainPresentations }
    }

    /// The presentations that cover a path. Empty for a tab that is not selected.
    func presentations(over scope: PathScope) -> Range<Int> {
        switch scope {
        case .presentation(let index): (index + 1)..<presentations(around: index).upperBound
        case .tab where scope != bottomScope: 0..<0
        case .root, .column, .tab: mainPresentations
        }
    }

    /// The window of an open instance. Nil if the instance is not open.
    func window(of instance: String) -> Window? { scope(of: instance).map(window) }

    private func window(of scope: PathScope) -> Window {
        let index = presentations(inWindowOf: scope).first
        guard case .presentation = scope, let index, presentations[index].style == .window else { return .main }
        return .presented(presentations[index].instance.id)
    }

    /// The open instance that sent a message of a machine's own platform. Nil if there is none.
    func sender(of input: Machine.Input, on platform: String) -> ScreenInstance? {
        guard let instance = input.attributes.instance, input.attributes.platform ?? platform == platform else {
            return nil
        }
        return open(instance)
    }

    /// The place of the path that contains an instance or lies on it. Nil if the instance is not open. For a root with
    /// tabs, this is the path of the selected tab.
    func scope(of instance: String) -> PathScope? {
        if root.instance.id == instance { return bottomScope }
        return paths.first { instances(at: $0).contains { $0.id == instance } }
    }

    /// The place of the path on a layer. Nil if there is no such layer.
    func scope(of layer: NavigationStep.Layer) -> PathScope? {
        let scope: PathScope? =
            switch layer {
            case .root: .root
            case .tab(let name): .tab(name)
            case .column(let name): .column(name)
            case .presentation(instance: let id):
                presentations.firstIndex { $0.instance.id == id }.map { .presentation($0) }
            }
        return scope.flatMap { base(of: $0) == nil ? nil : $0 }
    }

    /// The layer of a path. Nil if there is no such place.
    func layer(of scope: PathScope) -> NavigationStep.Layer? {
        switch scope {
        case .root: .root
        case .tab(let name): .tab(name)
        case .column(let name): .column(name)
        case .presentation(let index):
            presentations.indices.contains(index) ? .presentation(instance: presentations[index].instance.id) : nil
        }
    }

    /// The layer on which an open run was begun: the layer of the path on which its first screen was pushed, or the
    /// layer beneath its presentation. Nil for a run in a window of its own.
    func layer(beneath run: FlowRun) -> NavigationStep.Layer? {
        guard let scope = scope(of: run.first) else { return nil }
        guard case .presentation(let index) = scope, presentations[index].instance.id == run.first else {
            return layer(of: scope)
        }
        if presentations[index].style == .window { return nil }
        return layer(of: index > presentations(around: index).lowerBound ? .presentation(index - 1) : bottomScope)
    }

    /// The screen beneath a path and the screens on it; the topmost one is last.
    private func instances(at scope: PathScope) -> [ScreenInstance] {
        [base(of: scope)].compactMap(\.self) + self[scope]
    }

    /// The place of the path that `push` and `pop` change.
    func frontScope(from focus: Focus) -> PathScope {
        // The root's own path is never used while the root has tabs.
        if let scope = focus.layer.flatMap({ scope(of: $0) }), scope != .root || root.container?.selectedTab == nil {
            return scope
        }
        if let scope = focus.run.flatMap({ frontScope(ofRun: $0, sender: focus.sender) }) { return scope }
        switch focus.window {
        case .main?: return mainPresentations.last.map { .presentation($0) } ?? bottomScope
        case .presented(let id)?:
            let index = presentations.firstIndex { $0.instance.id == id }
            return index.flatMap { presentations(around: $0).last }.map { .presentation($0) } ?? frontScope
        case nil: return frontScope
        }
    }

    /// The frontmost path with a screen of a run. If the run has screens in several columns or windows, the sender
    /// decides among them, then the run's first screen.
    private func frontScope(ofRun run: String, sender: ScreenInstance?) -> PathScope? {
        var own = paths.filter { instances(at: $0).contains { $0.run == run } }
        let sending = sender?.run == run ? sender.flatMap { scope(of: $0.id) } : nil
        if let sending { own.removeAll { window(of: $0) != window(of: sending) } }
        if case .presentation? = own.last { return own.last }
        let first = self.run(run).flatMap { scope(of: $0.first) }
        return [sending, first].compactMap(\.self).first(where: own.contains) ?? own.first
    }

    /// The frontmost screen of a run that other screens cover. Nil if the user can act on a screen of the run.
    func coveredFront(ofRun run: String) -> ScreenInstance? {
        active.contains { $0.run == run } ? nil : openFromFront.first { $0.run == run }
    }

    /// The screen in front.
    func top(from focus: Focus) -> ScreenInstance {
        instances(at: frontScope(from: focus)).last ?? top
    }

    /// The places of the paths that the condition `path` examines: the front path, and the paths beneath it in the same
    /// window. Without a sender, these are the paths of all windows; for a child flow, only those with its screens.
    func scopesFromFront(from focus: Focus) -> [PathScope] {
        let front = frontScope(from: focus)
        guard case .presentation(let index) = front else { return [front] }
        let isAnywhere = focus.window == nil && focus.run == nil && focus.layer == nil
        let window = isAnywhere ? 0..<presentations.endIndex : presentations(around: index)
        let isMain = isAnywhere || presentations[window.lowerBound].style != .window
        let beneath =
            (window.lowerBound..<index).reversed().map { PathScope.presentation($0) }
            + (isMain ? [bottomScope] : [])
        guard let run = focus.run else { return [front] + beneath }
        return [front] + beneath.filter { instances(at: $0).contains { $0.run == run } }
    }

    /// All runs, from the front.
    var runsFromFront: [FlowRun] {
        guard !runs.isEmpty else { return [] }
        var ordered: [FlowRun] = []
        for screen in [top] + active + openFromFront {
            for run in lineage(of: screen.run) where !ordered.contains(run) { ordered.append(run) }
        }
        return ordered
    }

    /// All open instances, from the front to the root. The screens of tabs that are not selected come last.
    var openFromFront: [ScreenInstance] {
        let shown = root.container?.shownStacks ?? []
        let hidden = (root.container?.stacks ?? []).filter { !shown.contains($0) }
        return presentations.reversed().flatMap { $0.instances.reversed() } + path.reversed()
            + shown.reversed().flatMap { $0.instances.reversed() } + [root.instance]
            + hidden.flatMap { $0.instances.reversed() }
    }
}
