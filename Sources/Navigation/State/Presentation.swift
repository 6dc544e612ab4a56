public import Support

/// A presentation: a screen that lies over others, with the screens that were pushed on it.
public struct Presentation: Hashable, Sendable {
    /// The presentation style.
    public var style: PresentationStyle
    public var instance: ScreenInstance
    public var options: PresentationOptions
    /// The screens that were pushed on it; the topmost one is last.
    public var path: [ScreenInstance]

    public init(
        _ style: PresentationStyle,
        _ instance: ScreenInstance,
        options: PresentationOptions = PresentationOptions(),
        path: [ScreenInstance] = []
    ) {
        self.style = style
        self.instance = instance
        self.options = options
        self.path = path
    }

    /// The topmost screen of the stack.
    public var top: ScreenInstance { path.last ?? instance }

    /// True unless ``options`` forbid the user to dismiss the presentation.
    public var isInteractivelyDismissable: Bool { options.interactiveDismissal ?? true }

    /// The presented screen and the screens pushed on it; the topmost one is last.
    public var instances: [ScreenInstance] { [instance] + path }
}

extension Presentation: Codable {
    private enum CodingKeys: String, CodingKey {
        case style
        case path
    }

    /// Decodes style, instance, options and path from one object.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        style = try object.decode(PresentationStyle.self, forKey: .style)
        path = try object.decode([ScreenInstance].self, forKey: .path)
        instance = try ScreenInstance(from: decoder)
        options = try PresentationOptions(from: decoder)
    }

    /// Encodes style, instance, options and path as one object.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(style, forKey: .style)
        try object.encode(path, forKey: .path)
        try instance.encode(to: encoder)
        try options.encode(to: encoder)
    }
}

/// The way in which a presented screen is shown.
public enum PresentationStyle: String, Codable, Hashable, Sendable, CaseIterable {
    /// A card that the user can usually swipe away.
    case sheet
    /// A presentation that covers the whole screen.
    case fullScreen
    /// A bubble that points at the control that opened it.
    case popover
    /// A question with buttons.
    case alert
    /// A choice among buttons, in a list that comes up from the edge or from the control that opened it.
    case dialog
    /// A window of its own.
    case window

    /// True for styles that ask a question with buttons. Such a presentation has no stack, and nothing is presented
    /// over it.
    public var isQuestion: Bool { self == .alert || self == .dialog }
}

/// The properties of a presentation besides its screen, its style and its path. A property is nil if the flow does not
/// set it.
public struct PresentationOptions: Codable, Hashable, Sendable {
    /// The heights at which a sheet can rest.
    public var detents: [Detent]?
    /// True if a sheet shows a drag indicator.
    public var dragIndicator: Bool?
    /// True if the user may dismiss a sheet, a popover or a window; nil means true.
    public var interactiveDismissal: Bool?
    /// The title of an alert or a dialog.
    public var title: String?
    /// The message of an alert or a dialog.
    public var message: String?
    /// The buttons of an alert or a dialog, in the order in which they are shown.
    public var buttons: [AlertButton]?

    public init(
        detents: [Detent]? = nil,
        dragIndicator: Bool? = nil,
        interactiveDismissal: Bool? = nil,
        title: String? = nil,
        message: String? = nil,
        buttons: [AlertButton]? = nil
    ) {
        self.detents = detents
        self.dragIndicator = dragIndicator
        self.interactiveDismissal = interactiveDismissal
        self.title = title
        self.message = message
        self.buttons = buttons
    }
}

extension PresentationOptions {
    /// The size of the title, the message and the buttons, in bytes.
    var contentSize: Int {
        if title == nil, message == nil, buttons == nil { return 0 }
        let texts = [title, message].compactMap(\.self)
        let size = (buttons ?? []).reduce(0) { $0 + $1.contentSize }
        return texts.reduce(size) { $0 + JSONValue.string($1).description.utf8.count }
    }
}

/// A height at which a sheet can rest.
public enum Detent: String, Codable, Hashable, Sendable, CaseIterable {
    /// About half of the screen.
    case medium
    /// Nearly all of the screen.
    case large
}

/// A button of an alert or a dialog.
public struct AlertButton: Hashable, Sendable {
    /// The purpose of a button. Views may show buttons with a role in a special style.
    public enum Role: String, Codable, Hashable, Sendable, CaseIterable {
        /// The user declines.
        case cancel
        /// The button's action deletes something or cannot be undone.
        case destructive
    }

    /// The id that the view reports when the button is pressed.
    public var id: String
    public var title: String
    /// The role; nil for an ordinary button.
    public var role: Role?
    /// The type of the command that is sent when the button is pressed, such as `command.PlaylistSelected`. Nil if the
    /// button only closes the question.
    public var sends: String?
    /// The data of the command in ``sends``. Nil if it has none.
    public var data: [String: JSONValue]?
    /// The actions that are taken when the button is pressed. In a state, their templates are filled in.
    public var actions: [Flow.Action]

    public init(
        id: String,
        title: String,
        role: Role? = nil,
        sends: String? = nil,
        data: [String: JSONValue]? = nil,
        do actions: [Flow.Action] = []
    ) {
        self.id = id
        self.title = title
        self.role = role
        self.sends = sends
        self.data = data?.isEmpty == true ? nil : data
        self.actions = actions
    }
}

extension AlertButton: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, title, role, sends, data
        case actions = "do"
    }

    /// Decodes a button. Its actions are in the form of a flow file.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        id = try object.decode(String.self, forKey: .id)
        title = try object.decode(String.self, forKey: .title)
        role = try object.decodeIfPresent(Role.self, forKey: .role)
        sends = try object.decodeIfPresent(String.self, forKey: .sends)
        data = try object.decodeIfPresent([String: JSONValue].self, forKey: .data)
        var reader = FlowReader(file: "state")
        actions =
            try object.decodeIfPresent(JSONValue.self, forKey: .actions)
            .flatMap { reader.actions(FlowNode($0), at: "do") } ?? []
        if let finding = reader.findings.first {
            throw DecodingError.dataCorruptedError(forKey: .actions, in: object, debugDescription: finding.message)
        }
    }

    /// Encodes a button. Without a value, a member is absent.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(id, forKey: .id)
        try object.encode(title, forKey: .title)
        try object.encodeIfPresent(role, forKey: .role)
        try object.encodeIfPresent(sends, forKey: .sends)
        try object.encodeIfPresent(data, forKey: .data)
        if !actions.isEmpty { try object.encode(actions.map(\.json), forKey: .actions) }
    }
}

extension AlertButton {
    /// The size of the parts that a flow's templates can fill in, in bytes.
    var contentSize: Int {
        let data = data.map { JSONValue.object($0).description.utf8.count } ?? 0
        return actions.reduce(title.utf8.count + data) { $0 + $1.json.description.utf8.count }
    }
}
