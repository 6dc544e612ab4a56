import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Guards in a flow")
struct GuardFlowTests {
    private static let head = """
        name: form
        version: 1
        platform: ios
        start: form
        screens: { form: , done: , sorry: }
        transitions:
          - on: command.Next
            do: [{ push: { screen: done, arguments: { draft: "${answer.draft}" } } }]
            guard:

        """

    private func flow(_ condition: String) throws(FlowError) -> Flow {
        let lines = condition.split(separator: "\n").map { "      \($0)\n" }
        return try Flow(yaml: Self.head + lines.joined(), file: "form.yaml")
    }

    private func built(_ condition: Flow.Guard) throws -> Flow {
        try Flow("form", version: 1, platform: "ios", start: "form") {
            for name in ["form", "done", "sorry"] { Flow.Screen(name) }
            Flow.Transition(
                on: "command.Next", guard: condition, do: [.push(.screen("done", ["draft": "${answer.draft}"]))])
        }
    }

    /// The findings for a guard, which begins on line 10.
    private func findings(_ condition: String) -> [String] {
        FlowFinding.refused { () throws(FlowError) in try flow(condition) }.map(\.description)
    }

    @Test("A guard in YAML equals the same one built in Swift, in full and in short form")
    func yamlEqualsBuilt() throws {
        let full = """
            ask: { type: command.SaveDraft, data: { name: "${data.name}" } }
            accept: { on: event.DraftChecked, where: { ok: true } }
            reject: { on: event.DraftChecked, where: { ok: false } }
            deadline: 1500ms
            meanwhile: queue
            rejected: [{ present: { screen: sorry, style: sheet, arguments: { why: "${answer.why}" } } }]
            expired: [{ present: { screen: sorry, style: sheet } }]
            """
        let condition = Flow.Guard(
            ask: Flow.Guard.Ask("command.SaveDraft", data: ["name": "${data.name}"]),
            accept: Flow.Guard.Answer("event.DraftChecked", where: ["ok": true]),
            reject: Flow.Guard.Answer("event.DraftChecked", where: ["ok": false]),
            deadline: .milliseconds(1500), meanwhile: .queue,
            rejected: [.present(.screen("sorry", ["why": "${answer.why}"]), as: .sheet)],
            expired: [.present("sorry", as: .sheet)])
        #expect(try flow(full) == built(condition))
        #expect(try flow(full).hash == built(condition).hash)
        let short = Flow.Guard(
            ask: "command.SaveDraft", accept: "event.DraftSaved", reject: "event.Refused", deadline: .seconds(5))
        #expect(
            try flow("ask: command.SaveDraft\naccept: event.DraftSaved\nreject: event.Refused\ndeadline: 5s")
                == built(short))
    }

    @Test(
        "A guard written as JSON reads back as the same guard", arguments: [1, 999, 5000, 90_000, 600_000, 3_600_000])
    func jsonReadsBack(milliseconds: Int) throws {
        let conditions = [
            GuardFlow.saving(deadline: .milliseconds(milliseconds), meanwhile: .supersede),
            Flow.Guard(accept: "event.A", deadline: .milliseconds(milliseconds)),
        ]
        for condition in conditions {
            let flow = try GuardFlow.flow(condition)
            #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
        }
    }

    @Test("The same deadline in another unit is an equal guard")
    func units() throws {
        let hashes = try ["1m", "60s", "60000ms"].map { try flow("accept: event.A\ndeadline: \($0)").hash }
        #expect(Set(hashes).count == 1)
        #expect(try flow("accept: event.A\ndeadline: 61s").hash != hashes[0])
    }

    @Test(
        "An invalid guard is reported with its line and column",
        arguments: [
            ("accept: event.A", "10:7: a guard lacks 'deadline'; add it"),
            ("deadline: 5s", "10:7: a guard lacks 'accept'; add it"),
            ("accept: event.A\ndeadline: 5", "11:17: '5' is not a duration"),
            ("accept: event.A\ndeadline: soon", "11:17: 'soon' is not a duration"),
            ("accept: event.A\ndeadline: 99999999999999999h", "11:17: '99999999999999999h' is not a duration"),
            ("accept: event.A\ndeadline: 0s", "11:7: a guard's deadline must be at least 1ms and at most 1h"),
            ("accept: event.A\ndeadline: 2h", "11:7: a guard's deadline must be at least 1ms and at most 1h"),
            ("accept: event.A\ndeadline: 5s\nmeanwhile: wait", "12:18: unknown policy 'wait'"),
            ("accept: event.A\ndeadline: 5s\nrejcted: []", "12:7: unknown key 'rejcted' in a guard; did you mean"),
            ("accept: command.A\ndeadline: 5s", "10:7: 'command.A' cannot answer a guard"),
            ("accept: event.GuardDeadlinePassed\ndeadline: 5s", "10:7: the machine handles"),
            ("accept: event.A\nreject: query.B\ndeadline: 5s", "11:7: 'query.B' cannot answer a guard"),
            (
                "accept: event.A\nreject: event.A\ndeadline: 5s",
                "10:7: 'accept' matches every message that 'reject' matches"
            ),
            ("accept: event.A\ndeadline: 5s\nrejected: [pop]", "12:7: 'rejected' needs 'reject'"),
            ("ask: event.B\naccept: event.A\ndeadline: 5s", "10:7: 'event.B' is not the type of a command"),
            ("accept: event.A\ndeadline: 5s\nexpired: pop", "12:16: 'expired' must be a list of actions"),
            ("accept: event.A\ndeadline: 5s\nexpired: [{ push: dne }]", "12:25: unknown screen 'dne'"),
            (
                "accept: event.A\ndeadline: 5s\nexpired: [{ openURL: '${answer.url}' }]",
                "12:17: '${answer…}' cannot be used here"
            ),
            (
                "accept: event.A\ndeadline: 5s\nask: { type: command.B, data: { a: '${answer.b}' } }",
                "12:31: '${answer…}' cannot be used here"
            ),
        ])
    func refused(condition: String, expected: String) {
        let found = findings(condition)
        #expect(found.count == 1)
        #expect(found.contains { $0.hasPrefix("form.yaml:" + expected) }, "\(found)")
    }

    @Test("A template of an answer is refused outside of a guarded rule, and a deadline cannot be a rule")
    func withoutGuard() throws {
        let error = #expect(throws: FlowError.self) {
            try Flow("form", version: 1, platform: "ios", start: "form") {
                Flow.Screen("form")
                Flow.Transition(on: "event.A", do: [.openURL("${answer.url}")])
                Flow.Transition(on: "event.GuardDeadlinePassed", do: [.pop])
                Flow.Transition(
                    on: "event.B", guard: Flow.Guard(accept: "event.C", deadline: .nanoseconds(1_000_001)), do: [.pop])
            }
        }
        #expect(
            error?.message == """
                flow form: transitions[0].do[0]: '${answer…}' cannot be used here; \
                use it only in 'do' and 'rejected' of a rule with a guard
                flow form: transitions[1].on: the machine handles 'event.GuardDeadlinePassed' itself; \
                move the actions to 'expired' of a guard
                flow form: transitions[2].guard.deadline: \
                a guard's deadline must be a whole number of milliseconds; round it
                """)
    }

    @Test("A host can ask a flow for the answers and deadlines that the machine must receive")
    func messageTypes() throws {
        let types = try GuardFlow.flow().messageTypes
        #expect(types.isSuperset(of: ["event.DraftChecked", "event.MenuReady", "event.GuardDeadlinePassed"]))
        #expect(!types.contains("command.SaveDraft"))
        #expect(try !ShippedFlows.flow("ios").messageTypes.contains("event.GuardDeadlinePassed"))
    }
}
