/// How a presented screen lies over what presents it.
public enum PresentationStyle: String, Codable, Hashable, Sendable, CaseIterable {
    /// A card that the user can usually swipe away.
    case sheet
    /// The whole screen.
    case fullScreen
    /// A bubble that points at what opened it.
    case popover
    /// A question with buttons; holds no stack.
    case alert
    /// A window of its own.
    case window

    /// Whether screens can be pushed on what is presented so.
    var holdsStack: Bool { self != .alert }
}
