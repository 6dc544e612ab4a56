public import Support

/// The data that a machine keeps in addition to the state. Snapshots contain it.
public struct NavigationMemory: Hashable, Sendable {
    /// The last number that was given to an instance or a run. The next instance or run gets the number after it.
    @BoundedCount public private(set) var instances: Int
    /// The instances that views' reports have removed most recently; the latest one is last.
    public private(set) var departures: [Departure]
    /// The ids of the attempts that have ended most recently; the latest one is last. Nil if none has ended.
    public private(set) var attempts: [String]?
    /// The alerts and dialogs with whose buttons the user has most recently sent commands; the latest one is last. Nil
    /// if there are none.
    public private(set) var answers: [Answer]?

    /// The ids of the latest reports of selected tabs; the latest one is last. Nil if no rule answers taps on the
    /// selected tab, which a repeated report would look like.
    public private(set) var tabReports: [String]?

    /// An instance that is gone, and the report that removed it.
    public struct Departure: Hashable, Sendable {
        /// The id of the instance.
        public var instance: String
        /// The type of the report, such as `command.BackCompleted`.
        public var report: String
        /// The id of the button with which an alert was answered. Nil for other reports. An answer with another button
        /// does not repeat this report.
        public var button: String?

        /// The names of reports. All sessions share them, instead of keeping the text of each message and snapshot.
        static let reports = Dictionary(
            uniqueKeysWithValues: ViewReport.allCases.map { ($0.rawValue, $0.rawValue) })
    }

    /// An alert or a dialog that is gone, and the command that its button has sent. The command does not name the alert
    /// as its sender, because services would end its work with the alert.
    public struct Answer: Codable, Hashable, Sendable {
        /// The id of the user's answer, which is the cause of the command.
        public var message: String
        public var question: ScreenInstance
        /// The type of the command.
        public var sends: String
    }

    /// The maximum number of answers that are kept. The arguments of their alerts and dialogs together have at most the
    /// size that is allowed for one screen; the oldest answers are removed.
    static let answerLimit = 4

    /// The maximum number of departures, and of attempts, that are kept; the oldest are removed.
    static let departureLimit = 16

    init(instances: Int = 0, answers: [Answer]? = nil) {
        self.instances = instances
        self.answers = answers
        departures = []
    }

    /// Creates the session's next instance. Its id consists of the screen's name and the next number.
    mutating func instantiate(_ screen: String, _ arguments: [String: JSONValue] = [:]) -> ScreenInstance {
        instances += 1
        return ScreenInstance(screen: screen, number: instances, arguments: arguments)
    }

    /// An entry in the lists of the memory. A step collects its entries, and they are added when the step is completed.
    enum Entry {
        case departure(Departure)
        case endOfAttempt(String)
        case answer(Answer)
        case tabReport(String)
    }

    /// Adds the entries of a completed step.
    ///
    /// - Parameter instances: The last number that the step has given to an instance or a run.
    mutating func record(_ entries: [Entry], instances: Int) {
        self.instances = instances
        for entry in entries {
            switch entry {
            case .departure(let departure): record(departure)
            case .endOfAttempt(let id): recordEnd(ofAttempt: id)
            case .answer(let answer): record(answer)
            case .tabReport(let id): record(tabReport: id)
            }
        }
    }

    /// Records that an instance was removed.
    private mutating func record(_ departure: Departure) {
        // First, so that the array does not grow for one element more than it keeps.
        departures.removeFirst(max(0, departures.count - Self.departureLimit + 1))
        departures.append(departure)
    }

    /// Records that an attempt has ended.
    private mutating func recordEnd(ofAttempt id: String) {
        attempts = Array(((attempts ?? []) + [id]).suffix(Self.departureLimit))
    }

    /// Records that a button of an alert or a dialog has sent a command.
    private mutating func record(_ answer: Answer) {
        var kept = Array(((answers ?? []) + [answer]).suffix(Self.answerLimit))
        while kept.reduce(0, { $0 + $1.question.argumentSize }) > ScreenInstance.argumentLimit { kept.removeFirst() }
        answers = kept
    }

    /// The alert or the dialog whose button has recently sent this command. Nil for other messages.
    func question(sending input: Machine.Input) -> ScreenInstance? {
        answers?.question(sending: input)
    }

    /// True if this attempt has ended recently.
    func knows(attempt id: String) -> Bool {
        attempts?.contains(id) == true
    }

    /// Records a report of a selected tab.
    private mutating func record(tabReport id: String) {
        tabReports = Array(((tabReports ?? []) + [id]).suffix(Self.departureLimit))
    }

    /// True if this report of a selected tab was handled recently.
    func knows(tabReport id: String) -> Bool {
        tabReports?.contains(id) == true
    }

    /// True if a report has removed this instance recently.
    func knows(_ instance: String) -> Bool {
        departures.contains { $0.instance == instance }
    }
}

extension [NavigationMemory.Answer] {
    /// The alert or the dialog whose button has sent this command. Nil for other messages.
    func question(sending input: Machine.Input) -> ScreenInstance? {
        guard let cause = input.attributes.causationID else { return nil }
        return last { $0.message == cause && $0.sends == input.type }?.question
    }
}

extension ScreenInstance {
    /// A new instance. Its id consists of the screen's name and a number that is unique in the session.
    init(screen: String, number: Int, arguments: [String: JSONValue]) {
        self.init(screen: screen, id: screen + "-" + String(number), arguments: arguments)
    }
}

extension NavigationMemory: JSONRecord {
    package static var blank: NavigationMemory { NavigationMemory() }

    package mutating func list(_ fields: inout JSONFields) throws {
        try fields.field("answers", codable: &answers)
        try fields.field("attempts", codable: &attempts)
        try fields.field("departures", &departures)
        try fields.field("instances", &_instances)
        try fields.field("tabReports", codable: &tabReports)
    }
}

extension NavigationMemory.Departure: JSONRecord {
    package static var blank: Self { Self(instance: "", report: "") }

    package mutating func list(_ fields: inout JSONFields) throws {
        try fields.field("button", &button)
        try fields.field("instance", &instance)
        try fields.field("report", &report)
        if fields.isReading { report = Self.reports[report] ?? report }
    }
}
