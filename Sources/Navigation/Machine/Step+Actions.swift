extension Step {
    mutating func apply(_ action: Flow.Action) throws(NavigationFailure) {
        switch action {
        case .setRoot(let destination, let layout): try setRoot(destination, layout)
        case .push(let destination, let column):
            try push(try instantiate(destination), at: try place(column))
        case .pushFlow(let name, let arguments, let column):
            try push(try begin(name, arguments), at: try place(column))
        case .pop(let extent, let column): try pop(extent, column: column)
        case .popToRoot: try replacePath(with: [])
        case .replacePath(let destinations): try replacePath(with: destinations)
        case .present(let destination, let style, let options):
            try present(try instantiate(destination), style, options)
        case .presentFlow(let name, let arguments, let style, let options):
            try present(try begin(name, arguments), style, options)
        case .dismiss(let screen):
            let index = state.presentations.lastIndex { screen == nil || $0.instance.screen == screen }
            guard let index else { throw .notPresented(screen) }
            dismissPresentations(from: index)
        case .dismissAll: dismissPresentations(from: 0)
        case .selectTab(let tab): try selectTab(tab)
        case .show(let destination, let column): try show(destination, column)
        case .openURL(let template): effects.append(.openURL(try resolveURL(template)))
        case .send(let type, let data): effects.append(.send(type: type, data: try resolve(data)))
        case .finish(let result): try end(.finished, result: result)
        case .abandon: try end(.abandoned)
        }
    }

    private mutating func present(
        _ instance: ScreenInstance,
        _ style: PresentationStyle,
        _ options: PresentationOptions
    ) throws(NavigationFailure) {
        if let front = state.presentations.last, front.style.isQuestion { throw .awaitsAnswer(front) }
        var options = options
        options.title = try options.title.map { text throws(NavigationFailure) in try resolveText(text) }
        options.message = try options.message.map { text throws(NavigationFailure) in try resolveText(text) }
        state.presentations.append(Presentation(style, instance, options: options))
    }
}
