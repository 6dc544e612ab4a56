public import Navigation
import Support

/// Data that an app shows by dispatching it. The code that dispatches the data does not name a screen.
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
    /// The name of the data in the rules of a flow; the name of the type by default.
    static var dispatchName: String { get }
    /// The screen, style and view model that show the data.
    static var change: DispatchChange { get }
}

extension Dispatchable {
    public static var dispatchName: String { String(describing: Self.self) }
}

/// The way in which dispatched data is shown: the screen, its style and its view model.
public struct DispatchChange: Sendable {
    /// The way in which a screen appears.
    public enum Style: Hashable, Sendable {
        /// The screen is pushed on the front path. If a modal screen of the same `Flow.Dispatch` is in front and has
        /// no stack of its own, that modal screen is dismissed first.
        case pushed
        /// The screen is presented above the front screen. If `inStack` is true, the screen has a stack of its own, on
        /// which other screens are pushed while it is in front.
        case modal(PresentationStyle, PresentationOptions, inStack: Bool)
    }

    public var screen: String
    public var style: Style
    /// The names of the fields that identify the data. These fields are passed to the screen as arguments with the same
    /// names, and must not be optional.
    public var identifiers: [String]
    public var viewModel: any DispatchedViewModel.Type

    /// Pushes a screen with the data on the front path.
    public static func pushed<Key: CodingKey>(
        _ screen: String, identifiers: [Key], viewModel: any DispatchedViewModel.Type
    ) -> DispatchChange {
        DispatchChange(
            screen: screen, style: .pushed, identifiers: identifiers.map(\.stringValue), viewModel: viewModel)
    }

    /// Presents a screen with the data above the front screen.
    /// - Parameter inStack: true if the screen has a stack of its own, on which other screens can be pushed.
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
    ///   - screen: the screen instance. Its arguments identify the data.
    ///   - dispatching: dispatches other data.
    /// - Throws: an error if the arguments are not those of this screen.
    init(screen: ScreenInstance, dispatching: any Dispatching) throws
}

extension ScreenInstance {
    /// Decodes the arguments into a type.
    /// - Throws: `DecodingError`.
    public func decodeArguments<Arguments: Decodable>(_ type: Arguments.Type = Arguments.self) throws -> Arguments {
        try JSONValue.object(arguments).decode(type)
    }
}

/// The screens that show dispatched data, with their view models.
public struct DispatchedScreens: Sendable {
    private let viewModels: [String: any DispatchedViewModel.Type]

    /// - Parameter types: the types of the data. If several types share a screen, the first of these types determines
    ///   the screen's view model.
    public init(_ types: any Dispatchable.Type...) {
        let pairs = types.map { ($0.change.screen, $0.change.viewModel) }
        viewModels = Dictionary(pairs) { first, _ in first }
    }

    /// Creates the view model of a screen instance. Nil if the screen does not show dispatched data.
    /// - Throws: the error of the view model's initialiser.
    public func viewModel(
        for screen: ScreenInstance, dispatching: any Dispatching
    ) throws -> (any DispatchedViewModel)? {
        try viewModels[screen.screen]?.init(screen: screen, dispatching: dispatching)
    }
}
