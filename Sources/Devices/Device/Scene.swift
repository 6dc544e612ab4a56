internal import Contracts
internal import EventBus
public import Navigation
internal import Support

/// What a view shows of one platform, and what may be done there. A value: equal documents give equal scenes.
public struct Scene: Sendable {
    public let platform: String
    /// That of the navigation state.
    public let revision: Int
    /// From the bottom up.
    public let layers: [Layer]
    public let banner: Banner?
    /// What may be done: the choices of all layers from the bottom up, then the tabs.
    public let choices: [Choice]
    public let back: Choice?
    public let dismissal: Choice?
    public let bannerDismissal: Choice?
    /// The screens that a person can act on.
    public let active: [ScreenInstance]
    /// Whether a list is still to come, so that choices would change their places.
    public let isLoading: Bool
    /// The type of the command that waits for an answer before the flow goes on.
    public let waiting: String?
    /// What this device was asked to open last, if a person may still want to.
    public let requestedURL: OpenableURL?

    /// - Parameters:
    ///   - flow: what is said of screens without a view model; nil if it is not known.
    ///   - screens: the app's own.
    package init(
        _ snapshot: NavigationSnapshot, documents: LatestDocuments, flow: Flow? = nil, screens: AppScreens? = nil,
        requestedURL: OpenableURL? = nil
    ) {
        let source = Source(
            snapshot: snapshot, documents: documents, flow: flow,
            screens: screens?.flow == snapshot.flow.name ? screens : nil)
        platform = snapshot.platform
        revision = snapshot.revision
        layers = source.layers
        banner = Banner(documents[Document.ErrorBanner.self])
        choices = layers.flatMap(\.choices) + source.tabs
        back = source.back
        dismissal = source.dismissal
        bannerDismissal = banner.map { Choice(closing: $0, on: snapshot.state.top.id) }
        active = snapshot.state.active
        isLoading = layers.contains { !$0.isCovered && $0.content.isLoading }
        waiting = snapshot.state.attempt?.message.type
        self.requestedURL = requestedURL
    }

    /// What a person would open: the URL that this device was asked to open, or else the last one that is shown.
    public var url: OpenableURL? {
        if let requestedURL { return requestedURL }
        let texts = layers.filter { !$0.isCovered }.flatMap { layer in
            [layer.content.title] + layer.content.rows + layer.choices.map(\.label)
        }
        let banners = [banner?.message, banner?.recovery].compactMap(\.self)
        return (banners + texts).reversed().lazy.compactMap { OpenableURL.found(in: $0).last?.url }.first
    }
}

/// One screen of a scene: the stack's top, a column beside it, or something presented over them.
public struct Layer: Sendable {
    public enum Frame: Sendable {
        case none
        /// The name of a split view's column, or of the selected tab.
        case column(String)
        /// Over the layers before it; how, in words.
        case presented(String)
    }

    public let frame: Frame
    public let instance: String
    public fileprivate(set) var content: ScreenContent
    /// What a person can do on it; nothing while something lies over it.
    public fileprivate(set) var choices: [Choice]
    /// Whether something is presented over it.
    public let isCovered: Bool
}

/// What a scene is made from: the state of the navigation, and the documents.
private struct Source {
    let snapshot: NavigationSnapshot
    let documents: LatestDocuments
    let flow: Flow?
    /// nil in the flow of another app.
    let screens: AppScreens?

    var layers: [Layer] {
        let state = snapshot.state
        let topmost = state.presentations.indices.last
        var layers = [layer(state.path.last ?? state.root.instance, isCovered: topmost != nil)]
        layers += columns.map { layer($0.stack.top, frame: .column($0.name), isCovered: topmost != nil) }
        for (index, presentation) in state.presentations.enumerated() {
            // Nothing of what lies below a full screen is to be seen.
            if presentation.style == .fullScreen { layers = [] }
            layers.append(layer(presentation, isCovered: index != topmost))
        }
        return layers
    }

    private func layer(_ presentation: Presentation, isCovered: Bool) -> Layer {
        var layer = layer(presentation.top, frame: .presented(presentation.words), isCovered: isCovered)
        guard presentation.style.isQuestion else { return layer }
        // A question says what the flow lets it say; the screen's own words stand in for what it leaves out.
        layer.content.title = presentation.options.title ?? layer.content.title
        layer.content.rows = presentation.options.message.map { [$0] } ?? layer.content.rows
        if let buttons = presentation.options.buttons, !isCovered {
            layer.choices = buttons.map { choice($0, on: layer.instance) }
        }
        return layer
    }

    private func layer(_ instance: ScreenInstance, frame: Layer.Frame = .none, isCovered: Bool) -> Layer {
        let model = screens?.viewModels[instance.screen]?.init(
            documents: documents, arguments: instance.arguments.compactMapValues(\.stringValue))
        var content = model?.content ?? plainContent(of: instance)
        content.actions.removeAll { !snapshot.commands.contains($0.type.description) }
        let choices =
            model == nil
            ? plainChoices(of: instance)
            : content.actions.map { action in
                Choice(action, on: instance.id, outcome: outcome(of: action.type.description))
            }
        return Layer(
            frame: frame, instance: instance.id, content: content, choices: isCovered ? [] : choices,
            isCovered: isCovered)
    }

    private func choice(_ button: AlertButton, on instance: String) -> Choice {
        Choice(
            reporting: Command.AlertAnswered(instance: instance, button: button.id), on: instance,
            label: button.title, outcome: button.sends.map(outcome) ?? .navigation)
    }

    private func outcome(of command: String) -> Choice.Outcome {
        screens?.openingURLs.contains(command) == true ? .openedURL : .navigation
    }

    // MARK: Screens without a view model

    /// The flow's title, what the screen is about, and the documents of the session.
    private func plainContent(of instance: ScreenInstance) -> ScreenContent {
        ScreenContent(
            title: flow?.screens[instance.screen]?.title ?? instance.screen,
            rows: JSONValue.object(instance.arguments).rows() + (isInFront(instance) ? documents.rows : []))
    }

    /// The commands that the flow lets the screen send, to be given their fields.
    private func plainChoices(of instance: ScreenInstance) -> [Choice] {
        guard let flow else {
            // Which of its screens may send a command is not known.
            let commands = isInFront(instance) ? snapshot.commands : []
            return commands.compactMap(MessageType.init).map { Choice($0, on: instance.id, outcome: .anything) }
        }
        let commands = (flow.screens[instance.screen]?.sends ?? []).filter(snapshot.commands.contains)
        return commands.compactMap(MessageType.init).map { type in
            let isHeard = flow.messageTypes.contains(type.description)
            return Choice(type, on: instance.id, outcome: isHeard ? .navigation : .anything)
        }
    }

    private func isInFront(_ instance: ScreenInstance) -> Bool {
        instance.id == snapshot.state.active.last?.id
    }

    // MARK: What views may do of their own accord

    /// What is beside the root: the columns, or the selected tab.
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

extension Presentation {
    /// `sheet, medium, drag indicator`.
    fileprivate var words: String {
        let detents = options.detents?.map(\.rawValue) ?? []
        return ([style.rawValue] + detents + (options.dragIndicator == true ? ["drag indicator"] : []))
            .joined(separator: ", ")
    }
}
