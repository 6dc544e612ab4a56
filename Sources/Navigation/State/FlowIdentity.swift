/// Says under which flow a snapshot was made.
public struct FlowIdentity: Codable, Hashable, Sendable {
    /// The flow's name.
    public var name: String
    /// The version that its authors gave it.
    public var version: Int
    /// A hash of all that the flow says, 16 hexadecimal digits; it tells two flows of one version apart.
    public var hash: String

    /// Makes an identity.
    public init(name: String, version: Int, hash: String) {
        self.name = name
        self.version = version
        self.hash = hash
    }
}
