internal import Contracts
internal import Navigation
internal import Presentation

/// What screens are made from: the state of the navigation, and the documents.
struct Scene {
    let snapshot: NavigationSnapshot
    let documents: LatestDocuments
    /// What screens without a view model are shown by; nil if they are not.
    var flow: Flow?
    var sessionDocuments = SessionDocuments()
    /// What this device was asked to open last, if a person may still want to.
    var requestedURL: OpenableURL?

    func content(of instance: ScreenInstance) -> ScreenContent {
        if let content = plainContent(of: instance) { return content }
        return ScreenRegistry.content(
            of: instance.screen, in: snapshot.flow.name, arguments: instance.arguments.compactMapValues(\.stringValue),
            documents: documents, commands: Set(snapshot.commands))
    }

    /// From the bottom up.
    var layers: [Layer] {
        let state = snapshot.state
        let topmost = state.presentations.indices.last
        var layers = [Layer(state.path.last ?? state.root.instance, in: self, isCovered: topmost != nil)]
        layers += columns.map { Layer($0.stack.top, frame: .column($0.name), in: self, isCovered: topmost != nil) }
        for (index, presentation) in state.presentations.enumerated() {
            // Nothing of what lies below a full screen is to be seen.
            if presentation.style == .fullScreen { layers = [] }
            layers.append(Layer(presentation, in: self, isCovered: index != topmost))
        }
        return layers
    }

    /// What stands beside the root: the columns, or the selected tab.
    private var columns: [(name: String, stack: ScreenStack)] {
        switch snapshot.state.root.container {
        case .split(let columns): columns.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        case .tabs(let tabs, let selected): tabs.filter { $0.name == selected }.map { ($0.name, $0.stack) }
        case nil: []
        }
    }

    /// Back from the top of the stack that is in front; of columns, from the first that can go back.
    var back: Choice? {
        let state = snapshot.state
        let beside = state.presentations.isEmpty ? columns.map(\.stack.path) : []
        guard let top = ([state.frontPath] + beside).compactMap(\.last).first else { return nil }
        return Choice(reporting: Command.BackCompleted(instance: top.id), on: top.id, label: "Back")
    }

    /// Takes what is presented away. A full screen has no edge to pull at, and a question wants its answer.
    var dismissal: Choice? {
        guard let presentation = snapshot.state.presentations.last, presentation.isInteractivelyDismissable else {
            return nil
        }
        switch presentation.style {
        case .sheet, .popover, .window: break
        case .alert where presentation.options.buttons?.isEmpty ?? true: break
        case .alert, .dialog, .fullScreen: return nil
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
        return tabs.map(\.name).filter { $0 != selected }
            .map { Choice(reporting: Command.TabSelected(instance: root, tab: $0), on: root, label: "Tab \($0)") }
    }
}
