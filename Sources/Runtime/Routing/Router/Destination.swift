internal import Navigation

/// A route as a flow knows it: a screen and its arguments.
///
/// This is how Swift itself encodes an enum, `{"item":{"id":7}}`: the case's name, then its associated values.
struct Destination {
    let screen: String
    let arguments: [String: JSONValue]

    /// - Throws: ``RouterError/noRoute(_:)`` if it is not of the shape of an enum's case.
    init(_ route: some Encodable) throws {
        do {
            let json = try JSONValue(encoding: route)
            guard let members = json.objectValue, members.count == 1, let (screen, value) = members.first,
                let arguments = value.objectValue
            else { throw RouterError.noRoute("\(route) is no case of an enum, with or without associated values") }
            self.screen = screen
            self.arguments = arguments
        } catch let error as EncodingError {
            throw RouterError.noRoute("\(route) cannot be written as JSON: \(error)")
        }
    }

    var json: JSONValue { ["screen": .string(screen), "arguments": .object(arguments)] }
}

extension ScreenInstance {
    /// The route that leads to this screen; nil when there is none.
    func route<Route: Decodable>(_ type: Route.Type) -> Route? {
        try? JSONValue.object([screen: .object(arguments)]).decode(type)
    }
}
