extension Step {
    mutating func apply(_ action: Flow.Action) throws(NavigationFailure) {
        switch action {
        case .setRoot(let destination, let layout): try setRoot(destination, layout)
        case .push(let destination): try replacePath(from: frontPath.endIndex, with: [destination])
        case .pop:
            guard !frontPath.isEmpty else { throw .nothingToPop }
            try replacePath(from: frontPath.endIndex - 1, with: [])
        case .popToRoot: try replacePath(from: 0, with: [])
        case .replacePath(let destinations): try replacePath(from: 0, with: destinations)
        case .present(let destination, let style, let options): try present(destination, style, options)
        case .dismiss(let screen):
            let index = state.presentations.lastIndex { screen == nil || $0.instance.screen == screen }
            guard let index else { throw .notPresented(screen) }
            dismissPresentations(from: index)
        case .dismissAll: dismissPresentations(from: 0)
        case .show(let destination, let column): try show(destination, column)
        case .openURL(let template): effects.append(.openURL(try resolveURL(template)))
        case .send(let type, let data): effects.append(.send(type: type, data: try resolve(data)))
        }
    }

    private mutating func setRoot(_ destination: Flow.Destination, _ layout: Flow.Layout?) throws(NavigationFailure) {
        let dismissed = state.standing
        state.root = RootScreen(try instantiate(destination), container: layout.flatMap(Container.init))
        state.path = []
        state.presentations = []
        dismiss(dismissed)
    }

    private mutating func present(
        _ destination: Flow.Destination,
        _ style: PresentationStyle,
        _ options: PresentationOptions
    ) throws(NavigationFailure) {
        var options = options
        options.title = try options.title.map { text throws(NavigationFailure) in try resolveText(text) }
        options.message = try options.message.map { text throws(NavigationFailure) in try resolveText(text) }
        state.presentations.append(Presentation(style, try instantiate(destination), options: options))
    }

    private mutating func show(_ destination: Flow.Destination, _ column: String) throws(NavigationFailure) {
        guard case .split(var columns) = state.root.container else { throw .notSplit(column: column) }
        let replaced = columns.updateValue(try instantiate(destination), forKey: column)
        state.root.container = .split(columns: columns)
        dismiss(replaced.map { [$0] } ?? [])
    }

    private var frontPath: [ScreenInstance] {
        get { state.presentations.last?.path ?? state.path }
        set {
            if state.presentations.isEmpty {
                state.path = newValue
            } else {
                state.presentations[state.presentations.endIndex - 1].path = newValue
            }
        }
    }

    /// Replaces what lies on the front layer's path from `index` on: all that push, pop and their kin do.
    private mutating func replacePath(
        from index: Int,
        with destinations: [Flow.Destination]
    ) throws(NavigationFailure) {
        if let alert = state.presentations.last, alert.style == .alert, !destinations.isEmpty {
            throw .alertHasNoPath(alert.instance.screen)
        }
        let dismissed = Array(frontPath[index...])
        frontPath.removeSubrange(index...)
        for destination in destinations { frontPath.append(try instantiate(destination)) }
        dismiss(dismissed)
    }

    private mutating func instantiate(_ destination: Flow.Destination) throws(NavigationFailure) -> ScreenInstance {
        memory.instantiate(destination.screen, try resolve(destination.arguments))
    }
}

extension Container {
    init?(_ layout: Flow.Layout) {
        switch layout {
        case .split: self = .split(columns: [:])
        case .tabs(let tabs):
            guard let first = tabs.first else { return nil }
            self = .tabs(tabs, selected: first)
        }
    }
}
