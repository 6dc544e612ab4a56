import BusChecker
import FlowFiles
import Navigation
import Support
import Testing

@Suite("Checker of shared sessions")
struct NavigationCheckerTests {
    @Test("A correct history has no finding")
    func flawless() throws {
        let tale = try Tale.flawless()
        #expect(tale.findings == [])
        #expect(tale.history.entries.count == 19)
        #expect(tale.history.longestWait == Tale.usualWait)
    }

    @Test("A session that two coordinators have handled is found by a duplicate revision")
    func doubled() throws {
        var tale = try Tale.flawless()
        let state = try #require(tale.state(at: 3))
        tale.append(state.content, id: state.id)
        #expect(tale.findings == [.stateUnexpected(session: "anna", revision: 3, offset: tale.end)])
    }

    @Test("A coordinator that continues from an old state is found")
    func old() throws {
        var tale = try Tale.flawless()
        let state = try #require(tale.state(at: 3))
        guard case .state(var snapshot, let cause) = state.content else { return }
        snapshot.revision = 4
        tale.replace(state: 4, with: .state(snapshot, cause: cause))
        #expect(tale.findings == [.stateDiffers(session: "anna", revision: 4, offset: tale.offset(of: 4))])
    }

    @Test("A state that names another input as its cause is found")
    func cause() throws {
        var tale = try Tale.flawless()
        guard case .state(let snapshot, _) = try #require(tale.state(at: 3)).content else { return }
        tale.replace(state: 3, with: .state(snapshot, cause: "anna/1"))
        #expect(tale.findings == [.stateDiffers(session: "anna", revision: 3, offset: tale.offset(of: 3))])
    }

    @Test(
        "An input without its state is found, in the middle and at the end", arguments: [(3, "anna/3"), (7, "gone-7")])
    func missing(revision: Int, input: String) throws {
        var tale = try Tale.flawless()
        tale.remove(state: revision)
        #expect(tale.findings == [.stateMissing(session: "anna", revision: revision, input: input)])
    }

    @Test("A state without an input is found, and so is a session without a first message")
    func nothing() throws {
        var tale = try Tale.flawless()
        guard case .state(var snapshot, let cause) = try #require(tale.state(at: 7)).content else { return }
        snapshot.revision = 8
        tale.append(.state(snapshot, cause: cause))
        tale.append(.state(snapshot, cause: cause), in: "bert")
        #expect(
            tale.findings == [
                .stateUnexpected(session: "anna", revision: 8, offset: tale.end - 1),
                .stateUnexpected(session: "bert", revision: 8, offset: tale.end),
            ])
    }

    @Test("The session 'default' begins without a message, once")
    func unprompted() throws {
        var tale = try Tale.flawless()
        let first = Machine(flow: tale.history.flow, session: "default").snapshot
        tale.append(.state(first, cause: nil), in: "default")
        #expect(tale.findings == [])
        tale.append(.state(first, cause: nil), in: "default")
        #expect(tale.findings == [.stateUnexpected(session: "default", revision: 0, offset: tale.end)])
    }

    @Test("A missed deadline is found, and so is the state that still waits for it")
    func unmet() throws {
        var tale = try Tale.flawless()
        tale.tell("command.SheetToggled")
        tale.tell("command.SheetToggled")
        tale.append(.deadline(key: "ios.screen.sheet-9", isOpen: true))
        #expect(
            tale.findings == [
                .deadlineMissed(session: "anna", deadline: "ios.screen.sheet-9"),
                .deadlineMissed(session: "anna", deadline: "sheet-6"),
            ])
    }

    @Test("A deadline that is opened or closed twice is found", arguments: [true, false])
    func deadlineTwice(isOpen: Bool) throws {
        var tale = try Tale.flawless()
        tale.append(.deadline(key: Tale.sheet, isOpen: isOpen))
        let repeated = Finding.deadlineRepeated(session: "anna", deadline: Tale.sheet, offset: tale.end)
        let missed = Finding.deadlineMissed(session: "anna", deadline: Tale.sheet)
        #expect(tale.findings == (isOpen ? [repeated, missed] : [repeated]))
    }

    @Test("A result that is published again is found, and so is an error of a coordinator")
    func results() throws {
        var tale = try Tale.flawless()
        tale.append(.result, id: "anna/4.ios.1")
        #expect(tale.findings == [])
        tale.append(.result, id: "anna/4.ios.1")
        tale.append(.failure("it failed"))
        #expect(
            tale.findings == [
                .resultRepeated(id: "anna/4.ios.1", offset: tale.end - 1), .coordinatorFailed("it failed"),
            ])
    }

    @Test("An acknowledged input that the journal lacks is lost, like any value")
    func lost() throws {
        var history = History.flawless
        history.navigation = try Tale.flawless().history
        #expect(Checker.findings(in: history) == [])
        history.acknowledged.insert(Value(publisher: "anna", sequence: 99))
        #expect(Checker.findings(in: history) == [.lost(Value(publisher: "anna", sequence: 99))])
    }
}

@Suite("Checker of waiting times")
struct WaitTests {
    private static let limit = NavigationHistory.waitLimit
    /// The time of the waiting input.
    private static let start = 1_000_000
    private static let coordinators = (1...2).map(AvailabilityChange.Process.coordinator)

    /// The longest wait, if an input waits for twice the limit and these changes happen.
    private func wait(_ changes: [(Int, AvailabilityChange.Process, Bool)], by id: String = "anna/9") throws -> Int? {
        var tale = try Tale.flawless(before: Self.start)
        tale.history.changes += changes.map {
            AvailabilityChange(time: Self.start + $0, process: $1, isAvailable: $2)
        }
        tale.tell("event.Stepped", ["tab": "right"], id: id, waiting: 2 * Self.limit)
        guard case .heldUp(let input, let time, "coordinator")? = tale.findings.first else { return nil }
        #expect(input == id && tale.findings.count == 1)
        return time
    }

    @Test("An input that waits too long while nothing happens is found")
    func calm() throws {
        #expect(try wait([]) == 2 * Self.limit)
    }

    @Test("The time starts again when a coordinator ends")
    func gone() throws {
        #expect(try wait([(Self.limit, .coordinator(1), false)]) == nil)
        #expect(try wait([(Self.limit - 1, .coordinator(1), false)]) == Self.limit + 1)
    }

    @Test("A new coordinator does not extend the time")
    func joined() throws {
        #expect(try wait([(Self.limit, .coordinator(3), true)]) == 2 * Self.limit)
    }

    @Test("No input waits for a coordinator while there is none")
    func none() throws {
        let gone = Self.coordinators.map { (10, $0, false) }
        #expect(try wait(gone + [(Self.limit, .coordinator(1), true)]) == nil)
        #expect(try wait(gone + [(20, .coordinator(1), true)]) == 2 * Self.limit - 20)
    }

    @Test("No input waits for an absent broker, and the time starts again when it is back")
    func broker() throws {
        #expect(try wait([(10, .broker, false)]) == nil)
        #expect(try wait([(10, .broker, false), (Self.limit, .broker, true)]) == nil)
        #expect(try wait([(10, .broker, false), (20, .broker, true)]) == 2 * Self.limit - 20)
    }

    @Test("No input waits for a broker that does not answer")
    func silence() throws {
        #expect(try wait([(10, .answers, false), (Self.limit, .answers, true)]) == nil)
        #expect(try wait([(10, .answers, false), (20, .answers, true)]) == 2 * Self.limit - 20)
    }

    @Test("A report may be as old as the pause of its coordinator")
    func report() throws {
        #expect(try wait([], by: "report") == nil)
    }
}

/// The journal of one session, as coordinators write it.
private struct Tale {
    static let usualWait = 20
    static let sheet = "ios.screen.sheet-5"

    var history: NavigationHistory
    private var machine: Machine
    private var time: Int
    private var count = 0

    private static let flow = """
        name: checked
        version: 1
        platform: ios
        start: launch
        screens: { launch: , tabs: , left: , right: , sheet: }
        transitions:
          - on: event.LaunchFinished
            do: [setRoot: { screen: tabs, container: { tabs: [left, right] } }]
          - { on: event.Stepped, where: { tab: left }, do: [selectTab: left] }
          - { on: event.Stepped, where: { tab: right }, do: [selectTab: right] }
          - { on: command.SheetToggled, when: { presented: sheet }, do: [dismiss: sheet] }
          - { on: command.SheetToggled, do: [present: { screen: sheet, style: sheet }] }
        """

    /// A session that begins, in which a sheet opens and closes. All screens that leave are reported as gone.
    /// - Parameter end: The time of the next message.
    static func flawless(before end: Int = 2_000_000) throws -> Tale {
        let flow = try Flow(yaml: flow, file: "checked.yaml")
        var tale = Tale(
            history: NavigationHistory(flow: flow, entries: []), machine: Machine(flow: flow, session: "anna"),
            time: end - 100_000)
        let processes: [AvailabilityChange.Process] = [.broker, .coordinator(1), .coordinator(2)]
        tale.history.changes = processes.map {
            AvailabilityChange(time: end - 200_000, process: $0, isAvailable: true)
        }
        tale.tell("event.LaunchFinished")
        tale.append(.deadline(key: "ios.screen.launch-1", isOpen: true))
        tale.tell("command.ScreenGone", ["instance": "launch-1"])
        tale.append(.deadline(key: "ios.screen.launch-1", isOpen: false))
        tale.tell("event.Stepped", ["tab": "right"])
        tale.tell("command.SheetToggled")
        tale.tell("event.Stepped", ["tab": "left"])
        tale.tell("command.SheetToggled")
        tale.append(.deadline(key: sheet, isOpen: true))
        tale.tell("command.ScreenGone", ["instance": "sheet-5"], id: "gone-7")
        tale.append(.deadline(key: sheet, isOpen: false))
        tale.append(.result)
        tale.time = end
        return tale
    }

    private init(history: NavigationHistory, machine: Machine, time: Int) {
        (self.history, self.machine, self.time) = (history, machine, time)
    }

    /// Adds an input and the state to which it leads.
    mutating func tell(
        _ type: String, _ data: [String: String] = [:], id: String? = nil, waiting: Int = usualWait
    ) {
        count += 1
        let input = Machine.Input(
            id: id ?? "anna/\(count)", type: type, subject: "anna", data: .object(data.mapValues { .string($0) }))
        append(.input(input), id: input.id)
        let revision = machine.revision
        _ = machine.handle(input)
        time += waiting
        if machine.revision != revision { append(.state(machine.snapshot, cause: input.id)) }
    }

    mutating func append(_ content: NavigationEntry.Content, id: String? = nil, in session: String = "anna") {
        history.entries.append(
            NavigationEntry(
                id: id ?? "id-\(end)", session: session, source: "coordinator", offset: end + 1, time: time,
                content: content))
    }

    /// The offset of the last message.
    var end: UInt64 { history.entries.last?.offset ?? 0 }

    var findings: [Finding] {
        var all = History()
        all.navigation = history
        return Checker.findings(in: all)
    }

    func state(at revision: Int) -> NavigationEntry? { index(of: revision).map { history.entries[$0] } }

    func offset(of revision: Int) -> UInt64 { state(at: revision)?.offset ?? 0 }

    mutating func remove(state revision: Int) {
        if let index = index(of: revision) { history.entries.remove(at: index) }
    }

    mutating func replace(state revision: Int, with content: NavigationEntry.Content) {
        guard let index = index(of: revision) else { return }
        let old = history.entries[index]
        history.entries[index] = NavigationEntry(
            id: old.id, session: old.session, source: old.source, offset: old.offset, time: old.time,
            content: content)
    }

    private func index(of revision: Int) -> Int? {
        history.entries.firstIndex {
            if case .state(let snapshot, _) = $0.content { snapshot.revision == revision } else { false }
        }
    }
}
