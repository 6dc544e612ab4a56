internal import EventBus
internal import Monitor
internal import Support

/// The view of `segue top` as a value. It handles keys and facts, and returns what is to be done and the lines to draw.
struct TopView: Sendable {
    enum Input: Sendable {
        case key(KeyPress)
        /// The size of the terminal, in characters.
        case size(columns: Int, rows: Int)
        case report(StatisticsReport)
        /// A presence, a flow or a navigation state.
        case document(Envelope)
        /// The maker of happenings, which has learnt the present state.
        case learnt(Happenings)
        /// A new message.
        case message(Envelope)
        /// The instances of the project.
        /// - Parameter at: The time of the reading since any fixed moment.
        case instances([TopInstance], at: Duration)
        /// The answer to ``Action/read(_:)``.
        case content([StyledText], of: TopPage.Subject)
        /// A line for the user.
        case notice(String)
    }

    enum Action: Hashable, Sendable {
        case end
        case restart(instance: String)
        /// Read the content of a page. The next input for it is ``Input/content(_:of:)``.
        case read(TopPage.Subject)
    }

    /// The name of the project that has named the bus. Nil if none has.
    private let project: String?
    private var processes = TopProcesses()
    private var platforms: TopPlatforms
    private var report = StatisticsReport.empty
    private var happenings = Happenings()
    /// The last happenings that are complete.
    private var past: [Happening] = []
    private static let pastLimit = 50
    private var size = (columns: 80, rows: 24)
    /// Nil if the overview is visible.
    private var page: TopPage?
    /// The pages whose content is being read.
    private var reading: Set<TopPage.Subject> = []
    /// The instance whose restart the user has to confirm. Nil if there is none.
    private var asked: String?
    /// The line for the user. Nil if there is none.
    private var notice: String?

    init(project: String?, session: String) {
        self.project = project
        platforms = TopPlatforms(session: session)
    }

    // MARK: Inputs

    mutating func handle(_ input: Input) -> [Action] {
        switch input {
        case .key(let key): return handle(key)
        case .size(let columns, let rows):
            size = (columns, rows)
            page?.resize(columns: columns, room: rows - 1)
        case .report(let report):
            self.report = report
            processes.apply(report.services)
            // New lines of the log may have been written.
            if let page, case .log = page.subject, page.followsEnd { return read(page.subject) }
        case .document(let message):
            processes.apply(message)
            platforms.apply(message)
        case .learnt(let state): happenings = state
        case .message(let message): handle(message)
        case .instances(let instances, let time): processes.apply(instances, at: time)
        case .content(let lines, let subject):
            reading.remove(subject)
            if page?.subject == subject { page?.set(lines) }
        case .notice(let text): notice = text
        }
        return []
    }

    private mutating func handle(_ message: Envelope) {
        guard let happening = happenings.handle(message) else { return }
        past.append(happening)
        if past.count > Self.pastLimit { past.removeFirst(past.count - Self.pastLimit) }
    }

    private mutating func handle(_ key: KeyPress) -> [Action] {
        if let instance = asked {
            asked = nil
            let isConfirmed = key == .character("y")
            notice = isConfirmed ? "restarting '\(instance)' …" : "'\(instance)' is not restarted"
            return isConfirmed ? [.restart(instance: instance)] : []
        }
        notice = nil
        switch key {
        case .character("q"): return [.end]
        case .character("l"): return openLog()
        case .character("s"): return open(.story)
        case .character("d"): return open(.deadLetters)
        case .character("?"): return open(.keys)
        case .escape where page != nil: page = nil
        case _ where page != nil: page?.scroll(key)
        case .up: processes.select(-1)
        case .down: processes.select(1)
        case .home: processes.select(-processes.count)
        case .end: processes.select(processes.count)
        case .character("r"): askRestart()
        case .pageUp, .pageDown, .escape, .character: break
        }
        return []
    }

    private mutating func askRestart() {
        asked = selectedInstance(for: "a restart")
    }

    private mutating func openLog() -> [Action] {
        selectedInstance(for: "a log").map { open(.log(instance: $0)) } ?? []
    }

    /// The selected instance of the project. If there is none, the notice says why.
    private mutating func selectedInstance(for purpose: String) -> String? {
        guard let project else {
            notice = "\(purpose) needs a project: use -p, or start in the project's folder"
            return nil
        }
        guard let selected = processes.selected else {
            notice = "there is no process"
            return nil
        }
        guard let instance = processes.selectedInstance else {
            notice = "project '\(project)' has not started '\(selected)'"
            return nil
        }
        return instance
    }

    private mutating func open(_ subject: TopPage.Subject) -> [Action] {
        if page?.subject != subject { page = TopPage(subject, columns: size.columns, room: size.rows - 1) }
        guard subject != .keys else {
            page?.set(Self.help.map { StyledText($0) })
            return []
        }
        return read(subject)
    }

    /// The action that reads a page, unless it is being read.
    private mutating func read(_ subject: TopPage.Subject) -> [Action] {
        reading.insert(subject).inserted ? [.read(subject)] : []
    }

    // MARK: Lines

    private static let help = [
        "up, down   select a process, or scroll",
        "r          restart the selected process",
        "l          the last lines of its log",
        "s          the newest story; again: read it again",
        "d          the dead letters; again: read them again",
        "page up, page down, home, end   scroll",
        "escape     back to the overview",
        "Ctrl-Z     stop; 'fg' continues",
        "q, Ctrl-C  end",
    ]

    /// As many lines as the terminal has. The last is the status line.
    var lines: [StyledText] {
        let room = max(0, size.rows - 1)
        let body = (page?.lines ?? overview(room)).prefix(room)
        return body + Array(repeating: StyledText(), count: room - body.count) + [status]
    }

    private var status: StyledText {
        if let asked { return StyledText("y restarts '\(asked)'; any other key does not", .bold) }
        if let notice { return StyledText(notice, .bold) }
        guard let page else {
            return StyledText("? keys  r restart  l log  s story  d dead letters  q end", .dim)
        }
        let again = page.subject == .keys ? "" : "  \(page.subject.key) read again"
        return StyledText("escape back\(again)  q end" + (page.position.map { "  \($0)" } ?? ""), .dim)
    }

    /// The types, the processes, the platforms and the last happenings.
    private func overview(_ room: Int) -> [StyledText] {
        let statistics = StatisticsTable(report: report)
        let (types, discarded) = (statistics.types.lines, statistics.discarded.map { [$0] } ?? [])
        let screens = platforms.lines
        let happenings = lastHappenings
        let wants = [
            types.count + discarded.count, processes.count + 1, screens.count,
            happenings.isEmpty ? 0 : happenings.count + 1,
        ]
        // The types get one line for two lines of each other part.
        let rooms = Self.divide(room, among: wants, inOrder: [1, 2, 0, 3, 1, 2, 3])
        var parts = [
            Self.fitting(types, rooms[0] - discarded.count) + discarded.prefix(rooms[0]).map { StyledText($0) },
            processes.lines(room: rooms[1], columns: size.columns), Self.fitting(screens, rooms[2]),
            rooms[3] > 0 ? [StyledText("LAST HAPPENINGS", .bold)] + happenings.suffix(rooms[3] - 1) : [],
        ]
        parts.removeAll { $0.isEmpty }
        let hasGaps = rooms.reduce(0, +) + parts.count - 1 <= room
        return Array(parts.joined(separator: hasGaps ? [StyledText()] : []))
    }

    /// The newest happening, which further messages may join, is the last.
    private var lastHappenings: [StyledText] {
        var format = HappeningFormat()
        return (past + (happenings.pending.map { [$0] } ?? [])).flatMap { format.lines($0, columns: size.columns) }
    }

    /// Divides lines among parts: one line at a time goes to the next part in `order` that wants more.
    static func divide(_ room: Int, among wants: [Int], inOrder order: [Int]) -> [Int] {
        var (rooms, left) = ([Int](repeating: 0, count: wants.count), room)
        while let _ = order.first(where: { rooms[$0] < wants[$0] }), left > 0 {
            for part in order where left > 0 && rooms[part] < wants[part] {
                rooms[part] += 1
                left -= 1
            }
        }
        return rooms
    }

    /// The lines of a table if there is room for them; otherwise the first lines, and one with the number of the others
    /// unless it would be the only one below the heading.
    private static func fitting(_ lines: [String], _ room: Int) -> [StyledText] {
        guard room > 0 else { return [] }
        let hasRest = lines.count > room && room > 2
        let shown = hasRest ? room - 1 : min(room, lines.count)
        var result = lines.prefix(shown).enumerated().map { StyledText($1, $0 == 0 ? .bold : nil) }
        if hasRest { result.append(StyledText("… \(lines.count - shown) lines more", .dim)) }
        return result
    }
}
