internal import Navigation
internal import Presentation

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
}

extension Layer {
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
