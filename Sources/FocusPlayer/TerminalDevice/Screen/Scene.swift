internal import Contracts
internal import Navigation
internal import Presentation

/// What screens are made from: the state of the navigation, and the documents.
struct Scene {
    let snapshot: NavigationSnapshot
    let documents: LatestDocuments

    func content(of instance: ScreenInstance) -> ScreenContent {
        ScreenRegistry.content(
            of: instance.screen, arguments: instance.arguments.compactMapValues(\.stringValue), documents: documents,
            commands: Set(snapshot.commands))
    }

    /// From the bottom up.
    var layers: [Layer] {
        let state = snapshot.state
        let topmost = state.presentations.indices.last
        var layers = [Layer(state.path.last ?? state.root.instance, in: self, isCovered: topmost != nil)]
        if case .split(let columns) = state.root.container {
            layers += columns.sorted { $0.key < $1.key }
                .map { Layer($0.value, frame: .column($0.key), in: self, isCovered: topmost != nil) }
        }
        for (index, presentation) in state.presentations.enumerated() {
            // Nothing of what lies below a full screen is to be seen.
            if presentation.style == .fullScreen { layers = [] }
            layers.append(Layer(presentation, in: self, isCovered: index != topmost))
        }
        return layers
    }

    /// Back from the top of the stack that is in front.
    var back: Choice? {
        let state = snapshot.state
        guard let top = (state.presentations.last?.path ?? state.path).last else { return nil }
        return Choice(reporting: Command.BackCompleted(instance: top.id), on: top.id, label: "Back")
    }

    /// Takes what is presented away. A full screen has no edge to pull at, and an alert wants its answer.
    var dismissal: Choice? {
        guard let presentation = snapshot.state.presentations.last else { return nil }
        switch presentation.style {
        case .sheet, .popover, .window: break
        case .alert where presentation.options.buttons?.isEmpty ?? true: break
        case .alert, .fullScreen: return nil
        }
        let instance = presentation.instance.id
        return Choice(
            reporting: Command.PresentationDismissed(instance: instance), on: instance, label: "Dismiss")
    }

    /// The tabs of the root.
    var tabs: [Choice] {
        guard snapshot.state.presentations.isEmpty, case .tabs(let tabs, let selected) = snapshot.state.root.container
        else { return [] }
        let root = snapshot.state.root.instance.id
        return tabs.filter { $0 != selected }
            .map { Choice(reporting: Command.TabSelected(instance: root, tab: $0), on: root, label: "Tab \($0)") }
    }
}
