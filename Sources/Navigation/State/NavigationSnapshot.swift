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
    /// `flows.login.transitions[0]`, `links[1]`. Nil if the last change did not come from a rule or a link, or if the
    /// coordinator has restored the state with a changed flow. The end of a screen's animation does not count as a
    /// change.
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

extension NavigationSnapshot: JSONRecord {
    package static var blank: NavigationSnapshot {
        NavigationSnapshot(
            platform: "", session: "", revision: 0, flow: .blank, cause: nil, commands: [], state: .blank,
            memory: .blank)
    }

    /// If `cause` or `url` is nil, it is null; if `rule` is nil or `withoutBack` is empty, it is absent.
    package mutating func list(_ fields: inout JSONFields) throws {
        try fields.field("cause", orNull: &cause)
        try fields.field("commands", &commands)
        try fields.field("flow", &flow)
        try fields.field("memory", &memory)
        try fields.field("platform", &platform)
        try fields.field("revision", &_revision)
        try fields.field("rule", &rule)
        try fields.field("session", &session)
        try fields.field("state", &state)
        try fields.field("url", orNull: &url)
        try fields.field("withoutBack", unlessEmpty: &withoutBack)
    }
}

/// The name, version and hash of the flow of a snapshot.
public struct FlowIdentity: Hashable, Sendable {
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

extension FlowIdentity: JSONRecord {
    package static var blank: FlowIdentity { FlowIdentity(name: "", version: 0, hash: "") }

    package mutating func list(_ fields: inout JSONFields) throws {
        try fields.field("hash", &hash)
        try fields.field("name", &name)
        try fields.field("version", &_version)
    }
}
