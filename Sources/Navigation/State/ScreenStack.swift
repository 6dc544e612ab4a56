/// A screen and what has been pushed on it: what a tab or a column holds.
public struct ScreenStack: Hashable, Sendable {
    /// The screen that the stack begins with.
    public var instance: ScreenInstance
    /// What has been pushed on it, the topmost last.
    public var path: [ScreenInstance]

    /// Makes a stack.
    public init(_ instance: ScreenInstance, path: [ScreenInstance] = []) {
        self.instance = instance
        self.path = path
    }

    /// The screen in front.
    public var top: ScreenInstance { path.last ?? instance }

    /// The first screen and all that has been pushed on it, the topmost last.
    public var instances: [ScreenInstance] { [instance] + path }
}

extension ScreenStack: Codable {
    private enum CodingKeys: String, CodingKey {
        case path
    }

    /// Decodes the first screen and the path from one object.
    public init(from decoder: any Decoder) throws {
        instance = try ScreenInstance(from: decoder)
        let object = try decoder.container(keyedBy: CodingKeys.self)
        // Columns once held one screen each, and such a snapshot may still be stored.
        path = try object.decodeIfPresent([ScreenInstance].self, forKey: .path) ?? []
    }

    /// Encodes the first screen and the path as one object.
    public func encode(to encoder: any Encoder) throws {
        try instance.encode(to: encoder)
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(path, forKey: .path)
    }
}
