/// A screen that lies over others, with a stack of its own.
public struct Presentation: Hashable, Sendable {
    /// How it lies over them.
    public var style: PresentationStyle
    /// The presented screen.
    public var instance: ScreenInstance
    /// What the view needs to know besides.
    public var options: PresentationOptions
    /// What has been pushed on it, the topmost last.
    public var path: [ScreenInstance]

    /// Makes a presentation.
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

    /// The screen in front.
    public var top: ScreenInstance { path.last ?? instance }

    /// Whether the user may take it away without more ado, such as by a swipe.
    public var isInteractivelyDismissable: Bool { options.interactiveDismissal ?? true }

    /// The presented screen and all that has been pushed on it, the topmost last.
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

/// How a presented screen lies over what presents it.
public enum PresentationStyle: String, Codable, Hashable, Sendable, CaseIterable {
    /// A card that the user can usually swipe away.
    case sheet
    /// The whole screen.
    case fullScreen
    /// A bubble that points at what opened it.
    case popover
    /// A question with buttons.
    case alert
    /// A choice among buttons, in a list that comes up from the edge or from what opened it.
    case dialog
    /// A window of its own.
    case window

    /// Whether it is a question that its buttons answer: it holds no stack, and nothing is presented over it.
    public var isQuestion: Bool { self == .alert || self == .dialog }
}

/// What a view needs to know about a presentation besides its screen; members that do not apply to a style are nil.
public struct PresentationOptions: Codable, Hashable, Sendable {
    /// The heights at which a sheet rests.
    public var detents: [Detent]?
    /// Whether a sheet shows a drag indicator.
    public var dragIndicator: Bool?
    /// Whether the user may take a sheet, a popover or a window away; nil means yes.
    public var interactiveDismissal: Bool?
    /// An alert's or dialog's title.
    public var title: String?
    /// An alert's or dialog's message.
    public var message: String?
    /// An alert's or dialog's buttons, in the order in which they are shown.
    public var buttons: [AlertButton]?

    /// Makes the options.
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

/// A height at which a sheet rests.
public enum Detent: String, Codable, Hashable, Sendable, CaseIterable {
    /// About half of the screen.
    case medium
    /// Nearly all of the screen.
    case large
}

/// A button of an alert or a dialog.
public struct AlertButton: Codable, Hashable, Sendable {
    /// What a button is for, beyond what it says; views show these in a way of their own.
    public enum Role: String, Codable, Hashable, Sendable, CaseIterable {
        /// Leaves everything as it is.
        case cancel
        /// Destroys something.
        case destructive
    }

    /// What the view reports when the button is pressed.
    public var id: String
    /// What the button says.
    public var title: String
    /// What it is for; nil for nothing in particular.
    public var role: Role?
    /// The type of the command that pressing it sends, such as `command.PlaylistSelected`; nil when it only closes.
    public var sends: String?

    /// Makes a button.
    public init(id: String, title: String, role: Role? = nil, sends: String? = nil) {
        self.id = id
        self.title = title
        self.role = role
        self.sends = sends
    }
}
