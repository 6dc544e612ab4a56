/// A child flow that has begun and has not ended yet; the same flow may run several times at once.
public struct FlowRun: Codable, Hashable, Sendable {
    /// The identifier that nothing else in the session has had or will have, such as `login-5`.
    public var id: String
    /// The child flow's name.
    public var flow: String
    /// Its first instance: when this is gone, so is the run.
    public var first: String
    /// The run that began it; nil for the flow itself.
    public var parent: String?

    /// Makes a run.
    public init(id: String, flow: String, first: String, parent: String? = nil) {
        self.id = id
        self.flow = flow
        self.first = first
        self.parent = parent
    }

    private enum CodingKeys: String, CodingKey {
        case id = "run"
        case flow
        case first
        case parent
    }
}
