/// A screen that lies over others, with a stack of its own.
public struct Presentation: Hashable, Sendable {
    /// How it lies over them.
    public var style: PresentationStyle
    /// The presented screen.
    public var instance: ScreenInstance
    /// What the view needs to know besides.
    public var options: PresentationOptions
    /// What has been pushed on it, the topmost last.
    public var path: [ScreenInstance]

    /// Makes a presentation.
    public init(
        _ style: PresentationStyle,
        _ instance: ScreenInstance,
        options: PresentationOptions = PresentationOptions(),
        path: [ScreenInstance] = []
    ) {
        self.style = style
        self.instance = instance
        self.options = options
        self.path = path
    }

    /// The screen in front.
    public var top: ScreenInstance { path.last ?? instance }

    /// Whether the user may take it away without more ado, such as by a swipe.
    public var isInteractivelyDismissable: Bool { options.interactiveDismissal ?? true }

    /// The presented screen and all that has been pushed on it, the topmost last.
    public var instances: [ScreenInstance] { [instance] + path }
}

extension Presentation: Codable {
    private enum CodingKeys: String, CodingKey {
        case style
        case path
    }

    /// Decodes style, instance, options and path from one object.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        style = try object.decode(PresentationStyle.self, forKey: .style)
        path = try object.decode([ScreenInstance].self, forKey: .path)
        instance = try ScreenInstance(from: decoder)
        options = try PresentationOptions(from: decoder)
    }

    /// Encodes style, instance, options and path as one object.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(style, forKey: .style)
        try object.encode(path, forKey: .path)
        try instance.encode(to: encoder)
        try options.encode(to: encoder)
    }
}
