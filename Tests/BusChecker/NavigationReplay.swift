package import Navigation

/// Handles the inputs in a journal again, in order, and compares the states with those that the coordinators published.
///
/// A ``Machine`` handles each input of a session as a coordinator does, so the states must be equal, and each of them
/// must be published once. Two coordinators that handle one session publish a revision twice, and a coordinator that
/// continues from an old state publishes a state that differs.
package struct NavigationReplay: Sendable {
    /// The time between an input and the first state that it led to.
    struct Wait: Sendable {
        let input: String
        let start: Int
        let end: Int
        /// The coordinator that published the state.
        let source: String
    }

    /// A state that an input leads to and that is not published yet.
    private struct DueState: Sendable {
        let snapshot: NavigationSnapshot
        /// The id of the input. Nil for the first state of a session that begins without an input.
        let input: String?
        let time: Int
    }

    private struct SessionReplay: Sendable {
        var machine: Machine
        var due: [DueState] = []
        var openDeadlines: Set<String> = []
        var closedDeadlines: Set<String> = []

        var isSettled: Bool { due.isEmpty && openDeadlines.isEmpty && waiting.isEmpty }

        /// The leaving screens and the attempt that the state waits for.
        var waiting: [String] { machine.state.leaving.map(\.id) + machine.state.attempts.map(\.id) }
    }

    private let flow: Flow
    private var sessions: [String: SessionReplay] = [:]
    private var results: Set<String> = []
    private var found: [Finding] = []
    private(set) var waits: [Wait] = []

    package init(flow: Flow) {
        self.flow = flow
    }

    /// True if each input has led to its states, and no state waits for a deadline.
    package var isSettled: Bool { sessions.values.allSatisfy(\.isSettled) }

    /// The broken promises. What is still due counts as missing.
    var findings: [Finding] {
        found
            + sessions.sorted { $0.key < $1.key }.flatMap { name, session in
                session.due.map { .stateMissing(session: name, revision: $0.snapshot.revision, input: $0.input ?? "") }
                    + session.openDeadlines.union(session.waiting).sorted().map {
                        .deadlineMissed(session: name, deadline: $0)
                    }
            }
    }

    /// Handles the next message of the journal.
    package mutating func handle(_ entry: NavigationEntry) {
        switch entry.content {
        case .input(let input): handle(input, at: entry.time)
        case .state(let snapshot, let cause): compare(snapshot, of: cause, entry)
        case .deadline(let key, let isOpen): record(key, isOpen, entry)
        case .result:
            if !results.insert(entry.id).inserted { found.append(.resultRepeated(id: entry.id, offset: entry.offset)) }
        case .failure(let text): found.append(.coordinatorFailed(text))
        }
    }

    private mutating func handle(_ input: Machine.Input, at time: Int) {
        var session: SessionReplay
        if let known = sessions[input.subject] {
            session = known
        } else {
            // Other messages do not begin a session.
            guard input.type == "event.LaunchFinished" else { return }
            session = SessionReplay(machine: Machine(flow: flow, session: input.subject))
        }
        let former = session.machine.revision
        for case .passed(let snapshot) in session.machine.handle(input) {
            session.due.append(DueState(snapshot: snapshot, input: input.id, time: time))
        }
        if session.machine.revision != former {
            session.due.append(DueState(snapshot: session.machine.snapshot, input: input.id, time: time))
        }
        sessions[input.subject] = session
    }

    private mutating func compare(_ snapshot: NavigationSnapshot, of cause: String?, _ entry: NavigationEntry) {
        let (name, revision, offset) = (entry.session, snapshot.revision, entry.offset)
        if sessions[name] == nil, name == "default" {
            // The owner of its partition begins this session.
            let machine = Machine(flow: flow, session: name)
            let first = DueState(snapshot: machine.snapshot, input: nil, time: entry.time)
            sessions[name] = SessionReplay(machine: machine, due: [first])
        }
        guard let session = sessions[name],
            let index = session.due.firstIndex(where: { $0.snapshot.revision == revision })
        else {
            found.append(.stateUnexpected(session: name, revision: revision, offset: offset))
            return
        }
        for skipped in session.due[..<index] {
            let input = skipped.input ?? ""
            found.append(.stateMissing(session: name, revision: skipped.snapshot.revision, input: input))
        }
        let due = session.due[index]
        if due.snapshot != snapshot || due.input != cause {
            found.append(.stateDiffers(session: name, revision: revision, offset: offset))
        } else if let input = due.input {
            waits.append(Wait(input: input, start: due.time, end: entry.time, source: entry.source))
        }
        sessions[name]?.due.removeFirst(index + 1)
    }

    private mutating func record(_ key: String, _ isOpen: Bool, _ entry: NavigationEntry) {
        let session = sessions[entry.session]
        let isOnce =
            if isOpen {
                session?.openDeadlines.contains(key) == false && session?.closedDeadlines.contains(key) == false
            } else {
                session?.openDeadlines.contains(key) == true
            }
        if !isOnce { found.append(.deadlineRepeated(session: entry.session, deadline: key, offset: entry.offset)) }
        if isOpen {
            sessions[entry.session]?.openDeadlines.insert(key)
        } else {
            sessions[entry.session]?.openDeadlines.remove(key)
            sessions[entry.session]?.closedDeadlines.insert(key)
        }
    }
}

extension NavigationHistory {
    /// The maximum time in milliseconds that an input waits for its state while no fault happens.
    ///
    /// The broker notices after a lease of 5 s that a coordinator is silent, and looks for silent ones once a second.
    /// The others ask for their partitions once a second: together 7 s. The remaining 8 s are for the processes: on a
    /// machine with two cores and other work, a debug build takes seconds to start, to claim, to read its deadlines and
    /// to restore sessions. So the limit finds a session that is stuck, but not one that waits for a second lease (14
    /// s).
    package static let waitLimit = 15_000

    /// The longest time in milliseconds that an input waited while no fault happened.
    package var longestWait: Int { waits.map(\.calmWait).max() ?? 0 }

    /// The number of states that coordinators published.
    package var stateCount: Int { entries.count { if case .state = $0.content { true } else { false } } }

    /// The number of reports with which coordinators handled deadlines.
    package var reportCount: Int {
        entries.count { if case .input(let input) = $0.content { Value(input.id) == nil } else { false } }
    }

    var findings: [Finding] {
        let held = waits.filter { $0.calmWait > Self.waitLimit }
        return replay.findings
            + held.map { .heldUp(input: $0.input, milliseconds: $0.calmWait, source: $0.source) }
    }

    private var replay: NavigationReplay {
        var replay = NavigationReplay(flow: flow)
        for entry in entries { replay.handle(entry) }
        return replay
    }

    /// The waits of the values of publishers. A report of a coordinator can be as old as a stop of this coordinator, so
    /// the time of a report does not show when the wait began.
    private var waits: [(input: String, calmWait: Int, source: String)] {
        let calm = calm
        return replay.waits.filter { Value($0.input) != nil }.map { wait in
            let parts = calm.map { min($0.upperBound, wait.end) - max($0.lowerBound, wait.start) }
            return (wait.input, max(0, parts.max() ?? 0), wait.source)
        }
    }
}
