/// One appearance of a screen: shown twice, a screen is two instances.
public struct ScreenInstance: Codable, Hashable, Sendable {
    /// The screen's name in the flow.
    public var screen: String
    /// The identifier that nothing else in the session has had or will have, such as `generatedPlaylist-3`.
    public var id: String
    /// What the screen is about: identifiers, never content.
    public var arguments: [String: JSONValue]
    /// The run of a child flow that it belongs to; nil for the flow itself.
    public var run: String?

    /// Makes an instance.
    public init(screen: String, id: String, arguments: [String: JSONValue] = [:], run: String? = nil) {
        self.screen = screen
        self.id = id
        self.arguments = arguments
        self.run = run
    }

    private enum CodingKeys: String, CodingKey {
        case screen
        case id = "instance"
        case arguments
        case run
    }
}
