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

/// What a machine must remember besides the state, so that one restored from a snapshot goes on identically.
public struct NavigationMemory: Codable, Hashable, Sendable {
    /// How many instances the session has had; the next one gets the number after.
    public private(set) var instances: Int
    /// The instances that views' reports took away last, the latest last.
    public private(set) var departures: [Departure]
    /// The attempts that ended last, the latest last; nil when none has.
    public private(set) var attempts: [String]?

    /// An instance that is gone, and the report that said so.
    public struct Departure: Codable, Hashable, Sendable {
        /// The instance.
        public var instance: String
        /// The report's type, such as `command.BackCompleted`.
        public var report: String
        /// The button that an alert was answered with: another answer is no repetition.
        public var button: String?
    }

    /// How many departures are kept. A repeated report follows the first within moments (a view that reconnects, two
    /// devices that show one session), so a few screens' worth is enough, and the snapshot stays small.
    static let departureLimit = 16

    init(instances: Int = 0) {
        self.instances = instances
        departures = []
    }

    /// Makes the session's next instance. Numbering them instead of drawing identifiers at random is what makes equal
    /// histories give equal snapshots.
    mutating func instantiate(_ screen: String, _ arguments: [String: JSONValue] = [:]) -> ScreenInstance {
        ScreenInstance(screen: screen, id: "\(screen)-\(nextNumber())", arguments: arguments)
    }

    /// The next number that nothing in the session has had.
    mutating func nextNumber() -> Int {
        instances += 1
        return instances
    }

    /// Notes what was taken away.
    mutating func note(_ departure: Departure) {
        departures.append(departure)
        departures.removeFirst(max(0, departures.count - Self.departureLimit))
    }

    /// Notes that an attempt has ended, so that an answer to it is known to come too late. Answers follow within moments,
    /// as reports do.
    mutating func noteEnd(ofAttempt id: String) {
        attempts = Array(((attempts ?? []) + [id]).suffix(Self.departureLimit))
    }

    /// Whether this attempt has ended lately.
    func knows(attempt id: String) -> Bool {
        attempts?.contains(id) == true
    }

    /// Whether a report has taken the instance away lately.
    func knows(_ instance: String) -> Bool {
        departures.contains { $0.instance == instance }
    }
}
