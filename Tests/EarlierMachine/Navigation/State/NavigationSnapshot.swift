public import Support

/// A machine's state and memory in the form in which they are published and stored. ``Restoration`` restores a machine
/// from a snapshot and a flow.
public struct NavigationSnapshot: Hashable, Sendable {
    /// The platform of the flow, such as `ios`.
    public var platform: String
    /// The session, which is the subject of its messages.
    public var session: String
    /// The number of changes of the state.
    @BoundedCount public var revision: Int
    /// The name, version and hash of the flow.
    public var flow: FlowIdentity
    /// The id of the last message that changed the state. Nil if no message has changed it.
    public var cause: String?
    /// The place in the flow of the rule or link that last changed the state: `transitions[3]`,
    /// `flows.login.transitions[0]`, `links[1]`. Nil if the last change did not come from a rule or a link. The end of
    /// a screen's animation does not count as a change.
    public var rule: String?
    /// The types of the commands that may be sent by the screens that the user can act on, sorted.
    public var commands: [String]
    public var state: NavigationState
    public var memory: NavigationMemory
    /// The URL of a deep link that leads to this state. Nil if there is none.
    public var url: String?
    /// The ids of the pushed instances from which the user cannot go back, from the bottom up. Empty if there are none.
    public var withoutBack: [String]

    public init(
        platform: String,
        session: String,
        revision: Int,
        flow: FlowIdentity,
        cause: String?,
        rule: String? = nil,
        commands: [String],
        state: NavigationState,
        memory: NavigationMemory,
        url: String? = nil,
        withoutBack: [String] = []
    ) {
        self.platform = platform
        self.session = session
        self.revision = revision
        self.flow = flow
        self.cause = cause
        self.rule = rule
        self.commands = commands
        self.state = state
        self.memory = memory
        self.url = url
        self.withoutBack = withoutBack
    }
}

extension NavigationSnapshot: Codable {
    private enum CodingKeys: String, CodingKey {
        case platform
        case session
        case revision
        case flow
        case cause
        case rule
        case commands
        case state
        case memory
        case url
        case withoutBack
    }

    /// Decodes a snapshot. If `withoutBack` is absent, it is empty.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        platform = try object.decode(String.self, forKey: .platform)
        session = try object.decode(String.self, forKey: .session)
        _revision = try object.decode(BoundedCount<Int>.self, forKey: .revision)
        flow = try object.decode(FlowIdentity.self, forKey: .flow)
        cause = try object.decodeIfPresent(String.self, forKey: .cause)
        rule = try object.decodeIfPresent(String.self, forKey: .rule)
        commands = try object.decode([String].self, forKey: .commands)
        state = try object.decode(NavigationState.self, forKey: .state)
        memory = try object.decode(NavigationMemory.self, forKey: .memory)
        url = try object.decodeIfPresent(String.self, forKey: .url)
        withoutBack = try object.decodeIfPresent([String].self, forKey: .withoutBack) ?? []
    }

    /// Encodes the snapshot. If `cause` or `url` is nil, it is encoded as null; if `rule` is nil or `withoutBack` is
    /// empty, it is absent.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(platform, forKey: .platform)
        try object.encode(session, forKey: .session)
        try object.encode(revision, forKey: .revision)
        try object.encode(flow, forKey: .flow)
        try object.encode(cause, forKey: .cause)
        try object.encodeIfPresent(rule, forKey: .rule)
        try object.encode(commands, forKey: .commands)
        try object.encode(state, forKey: .state)
        try object.encode(memory, forKey: .memory)
        try object.encode(url, forKey: .url)
        if !withoutBack.isEmpty { try object.encode(withoutBack, forKey: .withoutBack) }
    }
}

/// The name, version and hash of the flow of a snapshot.
public struct FlowIdentity: Codable, Hashable, Sendable {
    public var name: String
    /// The version that its authors set.
    @BoundedInteger public var version: Int
    /// A hash of the whole flow, 16 hexadecimal digits.
    public var hash: String

    public init(name: String, version: Int, hash: String) {
        self.name = name
        self.version = version
        self.hash = hash
    }
}
