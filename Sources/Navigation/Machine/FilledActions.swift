internal import Support

// The parts of actions with their templates filled in. The actions of an alert's buttons are filled in when the alert is
// presented.
extension StateTransaction {
    private func filled(_ button: AlertButton) throws(NavigationFailure) -> AlertButton {
        var filled = button
        filled.title = try resolveText(button.title)
        if let data = button.data { filled.data = try resolve(data, as: flow.commands[button.sends ?? ""]) }
        filled.actions = try button.actions.map { action throws(NavigationFailure) in try self.filled(action) }
        return filled
    }

    /// The action of a button with its templates filled in.
    private func filled(_ action: Flow.Action) throws(NavigationFailure) -> Flow.Action {
        switch action {
        case .setRoot(let root, container: .tabs(let tabs, let history)):
            let tabs = try tabs.map { tab throws(NavigationFailure) in
                Flow.Tab.tab(tab.name, try filled(tab.destination))
            }
            return .setRoot(try filled(root), container: .tabs(tabs, history: history))
        case .setRoot(let root, container: let layout): return .setRoot(try filled(root), container: layout)
        case .push(let destination, on: let stack): return .push(try filled(destination), on: stack)
        case .pushFlow(let name, arguments: let arguments, on: let stack):
            return .pushFlow(name, arguments: try filled(arguments, toFlow: name), on: stack)
        case .replacePath(let path):
            return .replacePath(try path.map { destination throws(NavigationFailure) in try filled(destination) })
        case .present(let destination, as: let style, options: let options):
            return .present(try filled(destination), as: style, options: try filled(options))
        case .presentFlow(let name, arguments: let arguments, as: let style, options: let options):
            return .presentFlow(
                name, arguments: try filled(arguments, toFlow: name), as: style, options: try filled(options))
        case .show(let destination, let column): return .show(try filled(destination), column: column)
        case .goTo(let destination): return .goTo(try filled(destination))
        case .ifPossible(let action): return .ifPossible(try filled(action))
        case .update(let destination): return .update(try filled(destination))
        case .openURL(let template): return .openURL(try resolveURL(template))
        case .send(let type, let data): return .send(type: type, data: try resolve(data, as: flow.commands[type]))
        case .finish(let result): return .finish(result: try resolve(result))
        case .pop, .popToRoot, .dismiss, .dismissAll, .selectTab, .back, .abandon: return action
        }
    }

    func filled(_ destination: Flow.Destination) throws(NavigationFailure) -> Flow.Destination {
        if destination.arguments.isEmpty { return destination }
        let declared = flow.screens[destination.screen]?.arguments
        return .screen(destination.screen, try resolve(destination.arguments, as: declared))
    }

    private func filled(
        _ arguments: [String: JSONValue], toFlow name: String
    ) throws(NavigationFailure) -> [String: JSONValue] {
        try resolve(arguments, as: flow.flows[name].flatMap { flow.screens[$0.start]?.arguments })
    }

    func filled(_ options: PresentationOptions) throws(NavigationFailure) -> PresentationOptions {
        var filled = options
        filled.title = try options.title.map { text throws(NavigationFailure) in try resolveText(text) }
        filled.message = try options.message.map { text throws(NavigationFailure) in try resolveText(text) }
        filled.buttons = try options.buttons?.map { button throws(NavigationFailure) in try self.filled(button) }
        return filled
    }
}
