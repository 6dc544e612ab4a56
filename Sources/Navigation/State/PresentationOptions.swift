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
