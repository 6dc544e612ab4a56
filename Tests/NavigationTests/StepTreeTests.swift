import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

struct Branch {
    var entered: JSONValue = [:]
    var answer: JSONValue = [:]
    var screen: String

    static let all = [
        Branch(entered: ["kind": "owner"], screen: "team"), Branch(answer: ["paying": true], screen: "plan"),
        Branch(answer: ["paying": false], screen: "final"), Branch(screen: "final"),
    ]
}

@Suite("Trees of steps")
struct StepTests {
    private static let saved = Flow.Guard(
        accept: Flow.Guard.Answer("event.Saved", where: ["ok": true]),
        reject: Flow.Guard.Answer("event.Saved", where: ["ok": false]), deadline: .seconds(5),
        rejected: [.present("problem", as: .alert, options: .problem)])

    private static let yaml = """
        name: tour
        version: 1
        platform: ios
        start: name
        screens: { problem: , out: }
        steps:
          - screen: name
            title: Who are you?
            next: command.NameEntered
            guard: &saved
              accept: { on: event.Saved, where: { ok: true } }
              reject: { on: event.Saved, where: { ok: false } }
              deadline: 5s
              rejected:
                - present:
                    { screen: problem, style: alert, title: "${answer.why}", buttons: [{ id: ok, title: OK }] }
            steps:
              - screen: team
                where: { kind: [member, owner] }
                next: command.TeamEntered
                steps: [{ screen: final }]
              - screen: plan
                where: { answer.paying: true }
                next: command.PlanChosen
                steps: [{ screen: final }]
              - screen: final
        transitions:
          - on: event.Out
            do: [{ setRoot: out }]
        """

    private static func built() throws -> Flow {
        try Flow("tour", version: 1, platform: "ios", start: "name") {
            Flow.Screen("problem")
            Flow.Screen("out")
            Flow.Step("name", title: "Who are you?", next: "command.NameEntered", guard: saved) {
                Flow.Step("team", where: ["kind": ["member", "owner"]], next: "command.TeamEntered") {
                    Flow.Step("final")
                }
                Flow.Step("plan", where: ["answer.paying": true], next: "command.PlanChosen") { Flow.Step("final") }
                Flow.Step("final")
            }
            Flow.Transition(on: "event.Out", do: [.setRoot("out")])
        }
    }

    /// The flow of the tree, written as screens and rules.
    private static func written() throws -> Flow {
        let paying = Flow.Guard(
            accept: Flow.Guard.Answer("event.Saved", where: ["ok": true, "paying": true]), reject: saved.reject,
            deadline: saved.deadline, rejected: saved.rejected)
        return try Flow("tour", version: 1, platform: "ios", start: "name") {
            for name in ["problem", "out", "final"] { Flow.Screen(name) }
            Flow.Screen("name", title: "Who are you?", sends: ["command.NameEntered"])
            Flow.Screen("team", sends: ["command.TeamEntered"])
            Flow.Screen("plan", sends: ["command.PlanChosen"])
            Flow.Transition(on: "event.Out", do: [.setRoot("out")])
            Flow.Transition(
                on: "command.NameEntered", where: ["kind": ["member", "owner"]], when: [.top("name")], guard: saved,
                do: [.push("team")])
            Flow.Transition(on: "command.NameEntered", when: [.top("name")], guard: paying, do: [.push("plan")])
            Flow.Transition(on: "command.NameEntered", when: [.top("name")], guard: saved, do: [.push("final")])
            Flow.Transition(on: "command.TeamEntered", when: [.top("team")], do: [.push("final")])
            Flow.Transition(on: "command.PlanChosen", when: [.top("plan")], do: [.push("final")])
        }
    }

    @Test("A tree in YAML, one in Swift and the rules that they mean are equal")
    func same() throws {
        let built = try Self.built()
        #expect(try Flow(yaml: Self.yaml, file: "tour.yaml") == built)
        #expect(try Self.written() == built)
        #expect(try Flow(yaml: built.json.description, file: "tour.json") == built)
    }

    @Test("The branch depends on the user's input and on the answer", arguments: Branch.all)
    func branches(branch: Branch) throws {
        var session = Session(try Self.built())
        let asked = session.send("command.NameEntered", branch.entered, platform: "ios", instance: "name-1")
        #expect(asked == [.expectAnswer(attempt: "m1", within: .seconds(5))])
        let data = branch.answer.objectValue?.merging(["ok": true]) { own, _ in own } ?? [:]
        let effects = session.answer("event.Saved", .object(data), to: "m1")
        #expect(effects.allSatisfy { if case .began = $0 { true } else { false } })
        #expect(session.path == [branch.screen])
        #expect(session.state.attempt == nil)
    }

    @Test("A rejected answer keeps the screen, whichever branch was waited for")
    func rejection() throws {
        for entered in [[:], ["kind": "owner"]] as [JSONValue] {
            var session = Session(try Self.built())
            session.send("command.NameEntered", entered)
            session.answer("event.Saved", ["ok": false, "why": "Too short"], to: "m1")
            #expect(session.path.isEmpty)
            #expect(session.state.presentations.map(\.options.title) == ["Too short"])
            #expect(session.state.attempt == nil)
        }
    }

    @Test("A restored attempt is decided by the same rules")
    func restored() throws {
        var session = Session(try Self.built())
        session.send("command.NameEntered")
        var machine = Restoration(session.machine.snapshot, flow: session.machine.flow).machine
        _ = machine.handle(
            Machine.Input(
                id: "a", type: "event.Saved", data: ["ok": true],
                attributes: Machine.Attributes(causationID: "m1")))
        #expect(machine.state.path.map(\.screen) == ["final"])
    }

    @Test(
        "A mistake in a tree is reported where it is written",
        arguments: [
            ("- screen: a\n    where: { x: 1 }", 6, "no command leads to the first step"),
            ("- screen: a\n    steps: [{ screen: b }]", 6, "step 'a' has 'steps' but no 'next'"),
            ("- screen: a\n    next: command.Go", 6, "step 'a' has 'next' but no 'steps'"),
            ("- screen: a\n    guard: { accept: event.Ok, deadline: 1s }", 6, "step 'a' has a guard but no 'next'"),
            (
                "- screen: a\n    next: command.Go\n    steps:\n      - screen: b\n        where: { answer.x: 1 }", 9,
                "step 'a' has no guard"
            ),
            (
                "- screen: a\n    next: command.Go\n    steps:\n      - screen: b\n      - screen: a", 9,
                "screen 'a' is declared twice"
            ),
            ("- screen: a\n    next: event.Go\n    steps: [{ screen: b }]", 6, "is not the type of a command"),
            ("- title: b", 5, "a step lacks 'screen'"), ("{ screen: a }", 5, "'steps' must be a list"),
            (
                "- screen: a\n    next: command.Go\n    guard: { accept: command.No, deadline: 1s }\n"
                    + "    steps: [{ screen: b }]",
                7, "'command.No' cannot answer"
            ),
        ])
    func findings(steps: String, line: Int, message: String) throws {
        let yaml = "name: tour\nversion: 1\nplatform: ios\nstart: a\nsteps:\n  \(steps)\nscreens: { c: }\n"
        let error = #expect(throws: FlowError.self) { try Flow(yaml: yaml, file: "tour.yaml") }
        let findings = error?.findings ?? []
        let isFound = findings.contains { $0.message.contains(message) && [line, line + 1].contains($0.line) }
        #expect(isFound, "\(findings)")
    }

    @Test("A mistake in a tree in Swift is reported by the builder")
    func builderFindings() {
        #expect(throws: FlowError.self) {
            try Flow("tour", version: 1, platform: "ios", start: "a") { Flow.Step("a", next: "command.Go") }
        }
        #expect(throws: FlowError.self) {
            try Flow("tour", version: 1, platform: "ios", start: "a") {
                Flow.Step("a", next: "command.Go") { Flow.Step("b", next: "command.Go") { Flow.Step("a") } }
            }
        }
    }
}

extension PresentationOptions {
    fileprivate static let problem = PresentationOptions(
        title: "${answer.why}", buttons: [AlertButton(id: "ok", title: "OK")])
}
