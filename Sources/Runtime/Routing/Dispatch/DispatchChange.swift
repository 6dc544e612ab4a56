public import Navigation

/// How dispatched data is shown: on which screen, how that appears, and what its view model is.
public struct DispatchChange: Sendable {
    /// How a screen appears.
    public enum Style: Hashable, Sendable {
        /// On the path in front. A modal screen without a stack of its own gives way to it.
        case pushed
        /// Over what is in front. What is pushed while it is in front goes on its own stack, if it has one.
        case modal(PresentationStyle, PresentationOptions, inStack: Bool)
    }

    public var screen: String
    public var style: Style
    /// The fields of the data that the screen gets as arguments of the same names. They identify what it shows, and are
    /// never missing; content is read from documents.
    public var identifiers: [String]
    public var viewModel: any DispatchedViewModel.Type

    /// Shows it on the path in front.
    public static func pushed<Key: CodingKey>(
        _ screen: String, identifiers: [Key], viewModel: any DispatchedViewModel.Type
    ) -> DispatchChange {
        DispatchChange(
            screen: screen, style: .pushed, identifiers: identifiers.map(\.stringValue), viewModel: viewModel)
    }

    /// Shows it over what is in front.
    /// - Parameter inStack: whether it is embedded in a stack of its own, on which other screens can be pushed.
    public static func modal<Key: CodingKey>(
        _ screen: String, as style: PresentationStyle = .sheet, options: PresentationOptions = PresentationOptions(),
        inStack: Bool, identifiers: [Key], viewModel: any DispatchedViewModel.Type
    ) -> DispatchChange {
        DispatchChange(
            screen: screen, style: .modal(style, options, inStack: inStack),
            identifiers: identifiers.map(\.stringValue), viewModel: viewModel)
    }
}
