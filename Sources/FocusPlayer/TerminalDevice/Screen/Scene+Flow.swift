internal import EventBus
internal import Navigation
internal import Presentation

extension Scene {
    /// Whether a screen is shown by what its flow says of it: nobody has written a view model.
    private func isPlain(_ instance: ScreenInstance) -> Bool {
        flow != nil && ScreenRegistry.viewModel(of: instance.screen, in: snapshot.flow.name) == nil
    }

    /// The flow's title, what the screen is about, and the documents of the session; nil if it has a view model.
    func plainContent(of instance: ScreenInstance) -> ScreenContent? {
        guard isPlain(instance) else { return nil }
        let documents = instance.id == snapshot.state.active.last?.id ? sessionDocuments.rows : []
        return ScreenContent(
            title: flow?.screens[instance.screen]?.title ?? instance.screen,
            rows: DocumentRows.rows(.object(instance.arguments)) + documents)
    }

    /// The commands that the flow lets the screen send, to be typed with their fields; nil if it has a view model.
    func plainChoices(of instance: ScreenInstance) -> [Choice]? {
        guard let flow, isPlain(instance) else { return nil }
        let types = (flow.screens[instance.screen]?.sends ?? []).filter(snapshot.commands.contains)
        return types.compactMap(MessageType.init).map { type in
            let isHeard = flow.messageTypes.contains(type.description)
            return Choice(type, on: instance.id, outcome: isHeard ? .navigation : .service)
        }
    }
}
