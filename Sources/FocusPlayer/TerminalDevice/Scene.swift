internal import Contracts
internal import EventBus
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

/// One screen as it lies on the terminal: the stack's top, a column beside it, or something presented over them.
struct Layer: Sendable {
    enum Frame: Sendable {
        case none
        /// The name of a split view's column, or of the selected tab.
        case column(String)
        /// Over what is above it on the terminal; how, in words.
        case presented(String)
    }

    var frame: Frame
    var instance: String
    var content: ScreenContent
    /// What a person can do on it; nothing while something lies over it.
    var choices: [Choice]
    /// Whether something is presented over it.
    var isCovered: Bool

    init(_ instance: ScreenInstance, frame: Frame = .none, in scene: Scene, isCovered: Bool) {
        self.frame = frame
        self.instance = instance.id
        self.isCovered = isCovered
        content = scene.content(of: instance)
        let choices = scene.plainChoices(of: instance) ?? content.actions.map { Choice($0, on: instance.id) }
        self.choices = isCovered ? [] : choices
    }

    init(_ presentation: Presentation, in scene: Scene, isCovered: Bool) {
        self.init(
            presentation.top, frame: .presented(presentation.words), in: scene, isCovered: isCovered)
        guard presentation.style.isQuestion else { return }
        // A question says what the flow lets it say; the screen's own words stand in for what it leaves out.
        content.title = presentation.options.title ?? content.title
        content.rows = presentation.options.message.map { [$0] } ?? content.rows
        if let buttons = presentation.options.buttons, !isCovered {
            choices = buttons.map { Choice($0, on: instance) }
        }
    }
}

extension Presentation {
    /// `sheet, medium, drag indicator`.
    fileprivate var words: String {
        let detents = options.detents?.map(\.rawValue) ?? []
        return ([style.rawValue] + detents + (options.dragIndicator == true ? ["drag indicator"] : []))
            .joined(separator: ", ")
    }
}
