internal import Support

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
