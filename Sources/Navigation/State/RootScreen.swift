/// The screen that all others lie on, and how it is laid out.
public struct RootScreen: Hashable, Sendable {
    /// The screen itself.
    public var instance: ScreenInstance
    /// How the root arranges what stands beside it; nil for a plain stack.
    public var container: Container?

    /// Makes a root.
    public init(_ instance: ScreenInstance, container: Container? = nil) {
        self.instance = instance
        self.container = container
    }
}

// The container is a member beside the instance's own, so that going from a stack to a split never wraps the root.
extension RootScreen: Codable {
    private enum CodingKeys: String, CodingKey {
        case container
    }

    /// Decodes the instance and, where there is one, its container from one object.
    public init(from decoder: any Decoder) throws {
        instance = try ScreenInstance(from: decoder)
        container = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Container.self, forKey: .container)
    }

    /// Encodes the instance and, where there is one, its container as one object.
    public func encode(to encoder: any Encoder) throws {
        try instance.encode(to: encoder)
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encodeIfPresent(container, forKey: .container)
    }
}
