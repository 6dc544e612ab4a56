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
