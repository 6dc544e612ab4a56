public import Navigation
import Support

/// Data that an app shows by dispatching it, instead of by naming a screen.
///
///     struct RouteModel: Dispatchable {
///         var fromStationCode: String
///         var toStationCode: String
///
///         static var change: DispatchChange {
///             .modal(
///                 "route", inStack: true, identifiers: [CodingKeys.fromStationCode, .toStationCode],
///                 viewModel: RouteViewModel.self)
///         }
///     }
public protocol Dispatchable: Hashable, Codable, Sendable {
    /// What rules of a flow know it by; the type's own name unless said.
    static var dispatchName: String { get }
    /// How it is shown.
    static var change: DispatchChange { get }
}

extension Dispatchable {
    public static var dispatchName: String { String(describing: Self.self) }
}

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

/// The view model of a screen that shows dispatched data.
public protocol DispatchedViewModel: Sendable {
    /// - Parameters:
    ///   - screen: what identifies the data stands in its arguments.
    ///   - dispatching: what it shows other data with.
    /// - Throws: when the arguments are not what this screen's must be.
    init(screen: ScreenInstance, dispatching: any Dispatching) throws
}

extension ScreenInstance {
    /// The arguments as a type that holds them.
    /// - Throws: `DecodingError`.
    public func decodeArguments<Arguments: Decodable>(_ type: Arguments.Type = Arguments.self) throws -> Arguments {
        try JSONValue.object(arguments).decode(type)
    }
}

/// The screens that show dispatched data, and their view models.
public struct DispatchedScreens: Sendable {
    private let viewModels: [String: any DispatchedViewModel.Type]

    /// - Parameter types: of several that share a screen, the first says what its view model is.
    public init(_ types: any Dispatchable.Type...) {
        let pairs = types.map { ($0.change.screen, $0.change.viewModel) }
        viewModels = Dictionary(pairs) { first, _ in first }
    }

    /// The view model of a screen that is shown; nil if the screen shows no dispatched data.
    /// - Throws: what the view model throws about its arguments.
    public func viewModel(
        for screen: ScreenInstance, dispatching: any Dispatching
    ) throws -> (any DispatchedViewModel)? {
        try viewModels[screen.screen]?.init(screen: screen, dispatching: dispatching)
    }
}
