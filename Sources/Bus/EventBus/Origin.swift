/// The view a message came from. Empty for a service or a tool.
public struct Origin: Hashable, Sendable {
    public var platform: String?
    public var device: String?
    /// The screen instance.
    public var instance: String?

    public init(platform: String? = nil, device: String? = nil, instance: String? = nil) {
        self.platform = platform
        self.device = device
        self.instance = instance
    }
}
