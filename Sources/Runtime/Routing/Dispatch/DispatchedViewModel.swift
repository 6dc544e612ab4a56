public import Navigation

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
