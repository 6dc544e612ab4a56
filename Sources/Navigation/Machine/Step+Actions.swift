extension Step {
    mutating func apply(_ action: Flow.Action) throws(NavigationFailure) {
        switch action {
        case .setRoot(let destination, let layout): try setRoot(destination, layout)
        case .push(let destination, let column):
            let place = try place(column)
            try replacePath(at: place, from: state[place].endIndex, with: [destination])
        case .pop(let extent, let column): try pop(extent, column: column)
        case .popToRoot: try replacePath(at: state.frontPlace, from: 0, with: [])
        case .replacePath(let destinations): try replacePath(at: state.frontPlace, from: 0, with: destinations)
        case .present(let destination, let style, let options): try present(destination, style, options)
        case .dismiss(let screen):
            let index = state.presentations.lastIndex { screen == nil || $0.instance.screen == screen }
            guard let index else { throw .notPresented(screen) }
            dismissPresentations(from: index)
        case .dismissAll: dismissPresentations(from: 0)
        case .selectTab(let tab): try selectTab(tab)
        case .show(let destination, let column): try show(destination, column)
        case .openURL(let template): effects.append(.openURL(try resolveURL(template)))
        case .send(let type, let data): effects.append(.send(type: type, data: try resolve(data)))
        }
    }

    private mutating func present(
        _ destination: Flow.Destination,
        _ style: PresentationStyle,
        _ options: PresentationOptions
    ) throws(NavigationFailure) {
        if let front = state.presentations.last, front.style.isQuestion { throw .awaitsAnswer(front) }
        var options = options
        options.title = try options.title.map { text throws(NavigationFailure) in try resolveText(text) }
        options.message = try options.message.map { text throws(NavigationFailure) in try resolveText(text) }
        state.presentations.append(Presentation(style, try instantiate(destination), options: options))
    }
}
