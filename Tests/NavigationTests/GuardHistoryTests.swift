import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@Suite("Random histories with guards")
struct GuardHistoryTests {
    static let histories = Flow.Guard.Meanwhile.allCases.flatMap { policy in (0..<40).map { (policy, UInt64($0)) } }
    private static let steps = 200

    private func flow(_ policy: Flow.Guard.Meanwhile) throws -> Flow {
        try GuardFlow.flow(GuardFlow.saving(meanwhile: policy))
    }

    @Test("Every instance and attempt is unique, an attempt needs its screen, and each ends once", arguments: histories)
    func invariants(policy: Flow.Guard.Meanwhile, seed: UInt64) throws {
        var machine = Machine(flow: try flow(policy))
        var history = GuardHistory(seed: seed)
        var begun = Set<String>()
        var dismissed = Set<String>()
        for _ in 0..<Self.steps {
            let before = machine
            let effects = machine.handle(history.next(for: machine.state))

            let instances = (machine.state.open + machine.state.leaving).map(\.id)
            #expect(Set(instances).count == instances.count)
            for instance in effects.dismissals { #expect(dismissed.insert(instance).inserted) }
            for attempt in effects.attempts { #expect(begun.insert(attempt).inserted) }
            #expect(Set(machine.state.attempts.map(\.id)).count == machine.state.attempts.count)
            #expect(machine.state.attempts.count <= 16)
            for attempt in machine.state.attempts {
                #expect(machine.state.isOpen(attempt.instance))
                #expect(begun.contains(attempt.id))
                #expect(attempt.queue.count <= 16)
                #expect(attempt.queue.isEmpty || policy == .queue || attempt.message.type == "command.MenuOpened")
            }
            if machine.state == before.state { #expect(machine == before) }
            if machine.state != before.state { #expect(machine.revision > before.revision) }
        }
        #expect(begun.count > 3, "a history in which nothing waits shows nothing")
    }

    @Test("Every message that was held back is processed or reported as discarded", arguments: histories)
    func nothingLost(policy: Flow.Guard.Meanwhile, seed: UInt64) throws {
        var machine = Machine(flow: try flow(policy))
        var history = GuardHistory(seed: seed)
        for _ in 0..<Self.steps {
            let waiting = machine.state.attempts
            let input = history.next(for: machine.state)
            let effects = machine.handle(input)
            let discarded = effects.compactMap { if case .messageDiscarded(let id, _) = $0 { id } else { nil } }
            let queued = waiting.flatMap(\.queue).map(\.id) + [input.id]
            for before in waiting {
                if let after = machine.state.attempts.first(where: { $0.id == before.id }) {
                    #expect(after.queue.starts(with: before.queue))
                    #expect(after.queue.allSatisfy { queued.contains($0.id) })
                } else {
                    let answered = input.attributes.causationID == before.id && input.type.hasPrefix("event.")
                    #expect(answered || discarded.contains(before.message.id))
                }
            }
        }
    }

    @Test("A message that arrives twice in a row counts once", arguments: histories)
    func duplicates(policy: Flow.Guard.Meanwhile, seed: UInt64) throws {
        var machine = Machine(flow: try flow(policy))
        var history = GuardHistory(seed: seed)
        let repeatable = ["command.Next", "event.DraftChecked", "event.GuardDeadlinePassed", "command.BackCompleted"]
        for _ in 0..<Self.steps {
            let input = history.next(for: machine.state)
            _ = machine.handle(input)
            guard repeatable.contains(input.type) else { continue }
            let once = machine
            _ = machine.handle(input)
            #expect(machine == once, "\(input)")
        }
    }

    @Test("Equal histories give equal snapshots, also with a restart at any point", arguments: histories)
    func restarts(policy: Flow.Guard.Meanwhile, seed: UInt64) throws {
        var history = GuardHistory(seed: seed)
        try expectNoDifference(throughRestartsOf: try flow(policy), steps: Self.steps) { history.next(for: $0) }
    }

    @Test("A log-out leads to the log-out screen from every state, whatever waits", arguments: histories)
    func out(policy: Flow.Guard.Meanwhile, seed: UInt64) throws {
        var machine = Machine(flow: try flow(policy))
        var history = GuardHistory(seed: seed)
        for _ in 0..<Self.steps {
            _ = machine.handle(history.next(for: machine.state))
            var probe = machine
            _ = probe.handle(Machine.Input(id: "out", type: "event.Out"))
            #expect(probe.state.root.instance.screen == "out")
            // Queued messages may open new screens on the new root, but no instance from before is open.
            #expect(probe.state.open.map(\.id).allSatisfy { !machine.state.isOpen($0) })
        }
    }
}

extension [Machine.Effect] {
    fileprivate var attempts: [String] {
        compactMap { if case .expectAnswer(let attempt, _) = $0 { attempt } else { nil } }
    }
}

/// A random sequence of messages for a form with guards: correct answers, late answers, answers to other attempts,
/// deadlines, and commands from an impatient user on two platforms.
struct GuardHistory {
    private var random: SeededGenerator
    private var count = 0
    private var attempts = ["ghost"]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func next(for state: NavigationState) -> Machine.Input {
        count += 1
        for attempt in state.attempts where !attempts.contains(attempt.id) { attempts.append(attempt.id) }
        let known = state.open.map(\.id) + state.leaving.map(\.id) + ["form-2", "ghost-9"]
        let instance = known.randomElement(using: &random) ?? ""
        // On average, at least half of the messages refer to the newest attempt, so that attempts are often answered.
        let attempt = Bool.random(using: &random) ? attempts.last : attempts.randomElement(using: &random)
        let (type, data) = message(about: instance, attempt ?? "")
        return Machine.Input(
            id: "m\(count)",
            type: type,
            data: data,
            attributes: Machine.Attributes(
                platform: ([nil, nil, "ios", "mac"] as [String?]).randomElement(using: &random) ?? nil,
                instance: Int.random(in: 0..<4, using: &random) == 0 ? instance : nil,
                causationID: attempt)
        )
    }

    private mutating func message(about instance: String, _ attempt: String) -> (String, JSONValue) {
        let messages: [(String, JSONValue)] = [
            ("command.Begin", [:]), ("command.Begin", [:]), ("command.Begin", [:]),
            ("command.Next", ["name": "Bach"]), ("command.Next", ["name": 3]), ("command.Next", [:]),
            ("command.MenuOpened", [:]), ("command.Again", [:]), ("command.Home", [:]),
            ("event.DraftChecked", ["ok": true, "draft": 1]), ("event.DraftChecked", ["ok": true]),
            ("event.DraftChecked", ["ok": false, "why": "x"]), ("event.MenuReady", [:]), ("event.MenuReady", [:]),
            ("event.GuardDeadlinePassed", ["attempt": .string(attempt)]), ("event.Warned", [:]), ("event.Out", [:]),
            ("command.BackStarted", ["instance": .string(instance)]),
            ("command.BackCompleted", ["instance": .string(instance)]),
            ("command.PresentationDismissed", ["instance": .string(instance)]),
            ("command.PresentationDismissed", ["instance": .string(instance)]),
            ("command.ScreenGone", ["instance": .string(instance)]),
        ]
        return messages.randomElement(using: &random) ?? ("", [:])
    }
}
