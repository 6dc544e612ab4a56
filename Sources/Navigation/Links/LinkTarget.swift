internal import Support

/// The target of a deep link, with parsed arguments. Its parts are those of ``Flow/Link/Target``.
struct LinkTarget {
    let root: Root?
    let tab: String?
    /// The stacks of the columns, each from its first screen up.
    let columns: [String: [LinkScreen]]
    let path: [LinkScreen]
    let present: Presented?

    struct Root {
        let screen: LinkScreen
        let container: Flow.Layout?
        /// The tabs of the container. Empty for other containers.
        let tabs: [Tab]
    }

    struct Tab {
        let name: String
        let screen: LinkScreen
    }

    struct Presented {
        let screen: LinkScreen
        let style: PresentationStyle
        let options: PresentationOptions
    }

    init(_ target: Flow.Link.Target) {
        root = target.root.map { root in
            let tabs = (root.container?.tabs ?? []).map { Tab(name: $0.name, screen: LinkScreen($0.destination)) }
            return Root(screen: LinkScreen(root.destination), container: root.container, tabs: tabs)
        }
        tab = target.tab
        columns = target.columns.mapValues { $0.screens.map(LinkScreen.init) }
        path = target.path.map(LinkScreen.init)
        present = target.present.map {
            Presented(screen: LinkScreen($0.destination), style: $0.style, options: $0.options)
        }
    }

    /// The first screen of the target's tab, as its root declares it. Nil if the target names no root with that tab.
    var first: LinkScreen? { root?.tabs.first { $0.name == tab }?.screen }

    /// True if the state has the structure of the target, and each open instance matches the screen in the same place.
    func fits(_ state: NavigationState, where matches: (LinkScreen, ScreenInstance) -> Bool) -> Bool {
        func match(_ screens: [LinkScreen], _ open: [ScreenInstance]) -> Bool {
            screens.count == open.count && zip(screens, open).allSatisfy(matches)
        }
        guard keepsTab(of: state), match(path, state[state.bottomScope]) else { return false }
        if let root {
            guard root.fits(state.root.container), matches(root.screen, state.root.instance) else { return false }
        }
        if let first, let instance = state.base(of: state.bottomScope), !matches(first, instance) { return false }
        let open = state.columns
        guard open.count == columns.count,
            columns.allSatisfy({ match($1, open[$0]?.instances ?? []) })
        else { return false }
        guard let present else { return state.presentations.isEmpty }
        guard state.presentations.count == 1, let presentation = state.presentations.first else { return false }
        return presentation.style == present.style && match([present.screen], presentation.instances)
    }

    /// True if the target's tab is selected, or the target names none.
    func keepsTab(of state: NavigationState) -> Bool {
        tab == nil || tab == state.root.container?.selectedTab
    }
}

extension LinkTarget.Root {
    /// True if a root with this container can be kept for the link.
    func fits(_ open: Container?) -> Bool {
        switch (container, open) {
        case (nil, _), (.split, .split): true
        case (.tabs, .tabs(let tabs, _)):
            self.tabs.map(\.name) == tabs.map(\.name)
                && self.tabs.map(\.screen.name) == tabs.map(\.stack.instance.screen)
        default: false
        }
    }
}

/// A screen that a deep link opens, with its parsed arguments.
struct LinkScreen {
    let name: String
    let arguments: [String: LinkArgument]

    init(_ destination: Flow.Destination) {
        name = destination.screen
        arguments = destination.arguments.mapValues(LinkArgument.init)
    }

    /// Adds the values of the URL that would give the instance its arguments. An argument that equals its default gives
    /// no value.
    ///
    /// - Returns: False if no URL gives these arguments.
    func give(_ values: inout [String: JSONValue], of instance: ScreenInstance, _ pattern: URLPattern) -> Bool {
        for (name, argument) in arguments {
            guard case .placeholder(let placeholder, let fallback) = argument,
                let text = instance.arguments[name]?.argumentText, text != fallback
            else { continue }
            guard let value = pattern.type(of: placeholder)?.value(of: text),
                values.updateValue(value, forKey: placeholder) ?? value == value
            else { return false }
        }
        return true
    }
}
