internal import Support

/// A machine's state with all that is needed to show it, to explain it and to restore the machine from it.
///
/// Equal histories give equal snapshots: no clock and no chance has a part in it.
public struct NavigationSnapshot: Hashable, Sendable {
    /// The platform whose flow this is, such as `ios`.
    public var platform: String
    /// The session: one user's app.
    public var session: String
    /// How often the state has changed.
    public var revision: Int
    /// The flow that the state was reached under.
    public var flow: FlowIdentity
    /// The identifier of the message that the last change answered; nil before the first.
    public var cause: String?
    /// The types of the commands that the screens which the user can act on may send, sorted.
    public var commands: [String]
    /// The state.
    public var state: NavigationState
    /// What the machine remembers besides.
    public var memory: NavigationMemory
    /// The URL that leads to this state; nil when none does.
    public var url: String?

    /// Makes a snapshot.
    public init(
        platform: String,
        session: String,
        revision: Int,
        flow: FlowIdentity,
        cause: String?,
        commands: [String],
        state: NavigationState,
        memory: NavigationMemory,
        url: String? = nil
    ) {
        self.platform = platform
        self.session = session
        self.revision = revision
        self.flow = flow
        self.cause = cause
        self.commands = commands
        self.state = state
        self.memory = memory
        self.url = url
    }
}

extension NavigationSnapshot: Codable {
    private enum CodingKeys: String, CodingKey {
        case platform
        case session
        case revision
        case flow
        case cause
        case commands
        case state
        case memory
        case url
    }

    /// Encodes the snapshot; `cause` is null, not absent, before the first change, and so is `url` where there is none.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(platform, forKey: .platform)
        try object.encode(session, forKey: .session)
        try object.encode(revision, forKey: .revision)
        try object.encode(flow, forKey: .flow)
        try object.encode(cause, forKey: .cause)
        try object.encode(commands, forKey: .commands)
        try object.encode(state, forKey: .state)
        try object.encode(memory, forKey: .memory)
        try object.encode(url, forKey: .url)
    }
}

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
