internal import Contracts
internal import EventBus
public import Foundation
public import Navigation
internal import Support

/// The visible screens of one platform, and the choices that a person has on them.
public struct Scene: Sendable {
    /// The navigation state that the scene shows, with its platform, session, revision, flow and cause.
    public let snapshot: NavigationSnapshot
    /// The layers, from the bottom to the top.
    public let layers: [Layer]
    /// Nil if no error is shown.
    public let banner: Banner?
    /// The choices of all layers, from the bottom to the top, then the tabs.
    public let choices: [Choice]
    /// Nil if a person cannot go back.
    public let back: Choice?
    /// Nil if there is no presentation that a person can dismiss.
    public let dismissal: Choice?
    /// Nil if no error is shown.
    public let bannerDismissal: Choice?
    /// True if a screen that is not covered is loading.
    public let isLoading: Bool
    /// The URL that this device was last requested to open. Nil if there is none or if it must not be opened.
    public let requestedURL: OpenableURL?
    private let source: Source

    /// - Parameters:
    ///   - flow: The flow by which screens without a view model are drawn. Nil if it is not known.
    ///   - screens: The screens with view models. They are ignored if they belong to the flow of another app.
    package init(
        _ snapshot: NavigationSnapshot, documents: LatestDocuments, flow: Flow? = nil, screens: AppScreens? = nil,
        requestedURL: OpenableURL? = nil
    ) {
        let source = Source(
            snapshot: snapshot, active: snapshot.state.active, documents: documents, flow: flow,
            screens: screens?.flow == snapshot.flow.name ? screens : nil)
        self.snapshot = snapshot
        self.source = source
        layers = source.layers
        banner = Banner(documents[Document.ErrorBanner.self])
        choices = layers.flatMap(\.choices) + source.tabs
        back = source.back
        dismissal = source.dismissal
        bannerDismissal = banner.map { Choice(closing: $0, on: snapshot.state.top.id) }
        isLoading = layers.contains { !$0.isCovered && $0.content.isLoading }
        self.requestedURL = requestedURL
    }

    public var platform: String { snapshot.platform }

    /// The revision of the navigation state.
    public var revision: Int { snapshot.revision }

    /// The screens that a person can act on.
    public var active: [ScreenInstance] { source.active }

    /// The types of the messages that wait for the answers to guards.
    public var waiting: [String] { snapshot.state.attempts.map(\.message.type) }

    /// All open screens, from the root up, for a view that also draws the screens beneath others. A screen that a
    /// person cannot act on is covered.
    public var screens: [Layer] { source.open }

    /// The presentations that a person can dismiss, by the ids of their first screens.
    public var dismissible: [String] { source.dismissible.map(\.instance.id) }

    /// The URL that a person can open: the requested URL, or else the last URL on the scene. Nil if there is no such
    /// URL.
    public var url: OpenableURL? {
        if let requestedURL { return requestedURL }
        let texts = layers.filter { !$0.isCovered }.flatMap { layer in
            [layer.content.title] + layer.content.lines + layer.choices.map(\.label)
        }
        let banners = [banner?.message, banner?.recovery].compactMap(\.self)
        return (banners + texts).reversed().lazy.compactMap { OpenableURL.found(in: $0).last?.url }.first
    }

    /// The time from `time` to the next second of a position on a screen that is not covered. Nil if no position moves
    /// on.
    public func timeToNextSecond(at time: Date) -> Duration? {
        let rows = layers.filter { !$0.isCovered }.flatMap(\.content.sections).flatMap(\.rows)
        return rows.compactMap { $0.progress?.timeToNextSecond(at: time) }.min()
    }
}

/// One screen of a scene: the top of the root's stack, of a column or of the selected tab, or a presentation over them.
public struct Layer: Sendable {
    public enum Frame: Sendable {
        case none
        /// The name of a split view's column, or of the selected tab.
        case column(String)
        /// A presentation over the layers before it. The value describes the style of the presentation.
        case presented(String)
    }

    public let frame: Frame
    /// The id of the screen instance.
    public let instance: String
    public fileprivate(set) var content: ScreenContent
    /// The choices of a person on this layer. Empty if it is covered.
    public fileprivate(set) var choices: [Choice]
    /// True if there is a presentation over the layer.
    public let isCovered: Bool
    /// The choices, except those of the rows, that a person has when the layer is not covered any more. Empty if it is
    /// not covered.
    public fileprivate(set) var coveredChoices: [Choice] = []
}

/// The navigation state and the documents from which a scene is made.
private struct Source {
    let snapshot: NavigationSnapshot
    /// The screens that a person can act on. They are found once, because this takes time in a state with many
    /// presentations.
    let active: [ScreenInstance]
    let documents: LatestDocuments
    let flow: Flow?
    /// The screens with view models. Nil if there are none, or if they belong to the flow of another app.
    let screens: AppScreens?

    var layers: [Layer] {
        let state = snapshot.state
        var layers = [layer(state.path.last ?? state.root.instance)]
        layers += columns.map { layer($0.stack.top, frame: .column($0.name)) }
        for presentation in state.presentations {
            // A full screen hides all layers below it.
            if presentation.style == .fullScreen { layers = [] }
            layers.append(layer(presentation))
        }
        return layers
    }

    var open: [Layer] {
        let tops = Dictionary(snapshot.state.presentations.map { ($0.top.id, $0) }) { $1 }
        return snapshot.state.open.map { instance in tops[instance.id].map(layer) ?? layer(instance) }
    }

    private func layer(_ presentation: Presentation) -> Layer {
        var layer = layer(presentation.top, frame: .presented(presentation.words))
        let isCovered = layer.isCovered
        guard presentation.style.isQuestion else { return layer }
        // The title and the message of an alert or a dialog come from the flow, or else from the screen's own content.
        layer.content.title = presentation.options.title ?? layer.content.title
        if let message = presentation.options.message {
            layer.content.sections = [ScreenContent.Section(rows: [ScreenContent.Row(message)])]
        }
        if let buttons = presentation.options.buttons {
            let choices = buttons.map { choice($0, on: layer.instance) }
            if isCovered { layer.coveredChoices = choices } else { layer.choices = choices }
        }
        return layer
    }

    private func layer(_ instance: ScreenInstance, frame: Layer.Frame = .none) -> Layer {
        let isCovered = !active.contains(instance)
        let model = screens?.viewModels[instance.screen]?.init(
            documents: documents, arguments: instance.arguments.compactMapValues(\.stringValue))
        var content = model?.content ?? plainContent(of: instance)
        if content.actions.contains(where: isAsked) { content.isLoading = true }
        let later = isCovered ? content.actions.filter { $0.command == nil || allows($0.type, on: instance) } : []
        content.limitActions { !isCovered && !isAsked($0) && ($0.command == nil || allows($0.type)) }
        let actions = isCovered ? later : content.allActions
        let choices =
            model == nil
            ? plainChoices(of: instance, isCovered: isCovered)
            : actions.map { action in
                Choice(action, on: instance.id, outcome: outcome(of: action.type.description))
            }
        return Layer(
            frame: frame, instance: instance.id, content: content, choices: isCovered ? [] : choices,
            isCovered: isCovered, coveredChoices: isCovered ? choices : [])
    }

    /// True if the flow lets a screen send a command, even if it may not send it now.
    private func allows(_ command: MessageType, on instance: ScreenInstance) -> Bool {
        flow?.screens[instance.screen]?.sends.contains(command.description) ?? false
    }

    private func allows(_ command: MessageType) -> Bool {
        snapshot.commands.contains(command.description)
    }

    /// True if a query about the action's document has no answer yet.
    private func isAsked(_ action: ScreenAction) -> Bool {
        if case .query(_, let document) = action.content { documents.questions.isOpen(about: document) } else { false }
    }

    private func choice(_ button: AlertButton, on instance: String) -> Choice {
        Choice(
            reporting: Command.AlertAnswered(instance: instance, button: button.id), on: instance,
            label: button.title, role: ScreenAction.Role(button.role),
            outcome: button.sends.map(outcome) ?? .navigation)
    }

    private func outcome(of command: String) -> Choice.Outcome {
        screens?.openingURLs.contains(command) == true ? .openedURL : .navigation
    }

    // MARK: Screens without a view model

    /// The content of a screen without a view model: the title from the flow, the arguments and, on the screen in
    /// front, the session's documents.
    private func plainContent(of instance: ScreenInstance) -> ScreenContent {
        let arguments = [ScreenContent.Section(rows: JSONValue.object(instance.arguments).rows())]
        return ScreenContent(
            title: flow?.screens[instance.screen]?.title ?? instance.screen,
            sections: arguments.filter { !$0.rows.isEmpty } + (isInFront(instance) ? documents.sections : []))
    }

    /// The choices of a screen without a view model: the commands that the flow lets it send.
    private func plainChoices(of instance: ScreenInstance, isCovered: Bool) -> [Choice] {
        guard let flow else {
            // Without the flow, the commands of each screen are not known, so the screen in front gets all of them.
            let commands = isInFront(instance) ? snapshot.commands : []
            return commands.compactMap(MessageType.init).map { Choice($0, on: instance.id, outcome: .anything) }
        }
        let sends = flow.screens[instance.screen]?.sends ?? []
        let commands = isCovered ? sends : sends.filter(snapshot.commands.contains)
        return commands.compactMap(MessageType.init).map { type in
            let isReceived = flow.messageTypes.contains(type.description)
            return Choice(type, on: instance.id, outcome: isReceived ? .navigation : .anything)
        }
    }

    private func isInFront(_ instance: ScreenInstance) -> Bool {
        instance.id == active.last?.id
    }

    // MARK: Actions of the view itself

    /// The stacks beside the root's: the columns, or the selected tab.
    private var columns: [(name: String, stack: ScreenStack)] {
        switch snapshot.state.root.container {
        case .split(let columns): columns.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        case .tabs(let tabs, let selected): tabs.filter { $0.name == selected }.map { ($0.name, $0.stack) }
        case nil: []
        }
    }

    /// The choice that goes back: on the stack in front, or else on the root's stack, or else in the first column with
    /// a screen to leave. Nil if there is no such stack. Screens from which the flow forbids to go back do not count.
    var back: Choice? {
        let state = snapshot.state
        // In the main window a person can go back unless a presentation covers it.
        let main = isMainCovered ? [] : [state.path] + columns.map(\.stack.path)
        let tops = ([state.frontPath] + main).compactMap(\.last)
        guard let top = tops.first(where: { !snapshot.withoutBack.contains($0.id) }) else { return nil }
        return Choice(reporting: Command.BackCompleted(instance: top.id), on: top.id, label: "Back")
    }

    /// The choice that dismisses the topmost presentation. Nil if there is no presentation, or if the flow forbids the
    /// dismissal. Also nil for a full-screen presentation, for a dialog, and for an alert with buttons.
    var dismissal: Choice? {
        guard let instance = snapshot.state.presentations.last?.instance.id,
            dismissible.last?.instance.id == instance
        else { return nil }
        return Choice(
            reporting: Command.PresentationDismissed(instance: instance), on: instance, label: "Dismiss")
    }

    /// The presentations in front of their windows that a person can dismiss.
    var dismissible: [Presentation] {
        snapshot.state.presentations.filter { presentation in
            guard presentation.isInteractivelyDismissable, active.contains(presentation.top) else {
                return false
            }
            return switch presentation.style {
            case .sheet, .popover, .window: true
            case .alert: presentation.options.buttons?.isEmpty ?? true
            case .dialog, .fullScreen: false
            }
        }
    }

    /// True if a presentation covers the main window. A window of its own covers nothing.
    private var isMainCovered: Bool { snapshot.state.presentations.first.map { $0.style != .window } ?? false }

    /// The choices of the tabs that are not selected, and also of the selected one if the flow answers a tap on it.
    var tabs: [Choice] {
        guard !isMainCovered, case .tabs(let tabs, let selected) = snapshot.state.root.container
        else { return [] }
        let root = snapshot.state.root.instance.id
        let answersTap = flow?.acts.contains(.tappedTab) == true
        return tabs.map(\.name).filter { answersTap || $0 != selected }
            .map { Choice(reporting: Command.TabSelected(instance: root, tab: $0), on: root, label: "Tab \($0)") }
    }
}

extension ScreenAction.Role {
    fileprivate init(_ role: AlertButton.Role?) {
        switch role {
        case .cancel: self = .cancel
        case .destructive: self = .destructive
        case nil: self = .normal
        }
    }
}

extension Presentation {
    /// The style in words: `sheet, medium, drag indicator`.
    fileprivate var words: String {
        let detents = options.detents?.map(\.rawValue) ?? []
        return ([style.rawValue] + detents + (options.dragIndicator == true ? ["drag indicator"] : []))
            .joined(separator: ", ")
    }
}
