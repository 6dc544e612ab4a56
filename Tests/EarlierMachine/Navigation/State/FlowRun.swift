/// A run of a child flow that has not ended yet. Several runs of one child flow may exist at the same time.
public struct FlowRun: Codable, Hashable, Sendable {
    /// The id, which is unique in the session, such as `login-5`.
    public var id: String
    /// The name of the child flow.
    public var flow: String
    /// The id of the first instance. The run ends when this instance is dismissed.
    public var first: String
    /// The id of the run in which this run began. Nil if it began outside of any run.
    public var parent: String?

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
