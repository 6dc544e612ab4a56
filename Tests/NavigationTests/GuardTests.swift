import FlowFiles
import Navigation
import SampleFlows
import Support
import Testing

@Suite("A guard that waits for an answer")
struct GuardTests {
    @Test("A guard sends its question, and the state has the attempt before anything else changes")
    func asks() throws {
        var session = Session(try GuardFlow.flow())
        session.send("command.Begin")
        let effects = session.send("command.Next", ["name": "Bach"], platform: "ios", instance: "form-2")
        #expect(
            effects == [
                .ask(
                    id: "m2.ios.ask", type: "command.SaveDraft", data: ["name": "Bach"], instance: "form-2",
                    within: .seconds(5)),
                .expectAnswer(attempt: "m2.ios.ask", within: .seconds(5)),
            ])
        let attempt = try #require(session.state.attempt)
        #expect(attempt.id == "m2.ios.ask")
        #expect(attempt.instance == "form-2")
        #expect(attempt.deadline == 5000)
        #expect(attempt.message.type == "command.Next")
        #expect(session.path == ["form"])
        #expect(session.machine.revision == 2)
        #expect(session.machine.cause == "m2")
    }

    @Test("An accepted answer applies the rule's actions in one step, with the data of question and answer")
    func accepted() throws {
        var session = try GuardFlow.waiting()
        let effects = session.answer()
        #expect(session.path == ["form", "done"])
        #expect(session.state.path.last?.arguments == ["name": "Bach", "draft": 7])
        #expect(session.state.attempt == nil)
        #expect(session.machine.revision == 3)
        #expect(session.machine.cause == "m3")
        let origin = Machine.Attributes(platform: "ios", instance: "form-2")
        #expect(effects == [.began(origin), .openURL("https://example.org/Bach")])
    }

    @Test("A rejected answer applies only the actions declared for a rejection")
    func rejected() throws {
        var session = try GuardFlow.waiting()
        session.reject()
        #expect(session.path == ["form"])
        #expect(session.state.presentations.first?.instance.arguments == ["why": "no name"])
        #expect(session.state.attempt == nil)
    }

    @Test("A rejection without declared actions is processed by the rules in the same step")
    func rejectedByFact() throws {
        let condition = Flow.Guard(
            ask: "command.SaveDraft", accept: "event.DraftChecked", reject: "event.Out", deadline: .seconds(1))
        var session = try GuardFlow.waiting(condition)
        session.answer("event.Out", [:])
        #expect(session.root == "out")
        #expect(session.state.attempt == nil)
        #expect(session.machine.revision == 3)
        var other = try GuardFlow.waiting(GuardFlow.saving(rejected: []))
        #expect(other.reject().isEmpty)
        #expect(other.state.attempt == nil)
        #expect(other.machine.revision == 3)
    }

    @Test("A deadline applies its declared actions, and the message is discarded with a report")
    func expired() throws {
        var session = try GuardFlow.waiting()
        let effects = session.expire()
        #expect(effects.discards == ["command.Next: no answer came in time"])
        #expect(session.state.presentations.first?.instance.arguments == ["why": "late", "name": "Bach"])
        #expect(session.state.attempt == nil)
        #expect(session.expire().isEmpty)
    }

    @Test("A deadline of an unknown attempt is discarded, and one of another platform is ignored")
    func strangeDeadlines() throws {
        var session = try GuardFlow.waiting()
        let before = session.machine
        #expect(session.expire("m9").discards == ["event.GuardDeadlinePassed: attempt 'm9' is not waiting"])
        #expect(
            session.send("event.GuardDeadlinePassed").discards
                == ["event.GuardDeadlinePassed: the field 'attempt' is missing"])
        #expect(session.send("event.GuardDeadlinePassed", ["attempt": "m2.ios.ask"], platform: "mac").isEmpty)
        #expect(session.machine == before)
    }

    @Test("An answer after the deadline, or a second one, is discarded with a report")
    func late() throws {
        for first in [true, false] {
            var session = try GuardFlow.waiting()
            if first { session.answer() } else { session.expire() }
            let before = session.machine
            #expect(session.answer().discards == ["event.DraftChecked: attempt 'm2.ios.ask' has ended"])
            #expect(session.machine == before)
        }
    }

    @Test("An answer to another attempt, or to none, is processed like any event")
    func otherAttempt() throws {
        var session = try GuardFlow.waiting()
        let before = session.machine
        #expect(session.answer(to: "m1").isEmpty)
        #expect(session.send("event.DraftChecked", ["ok": true, "draft": 7]).isEmpty)
        #expect(session.answer("event.DraftChecked", ["ok": "perhaps"]).isEmpty)
        #expect(session.machine == before)
        session.answer()
        #expect(session.path == ["form", "done"])
    }

    @Test("A guard without a question waits for an answer to the message itself")
    func withoutAsk() throws {
        var session = Session(try GuardFlow.flow())
        let effects = session.send("command.MenuOpened")
        #expect(effects == [.expectAnswer(attempt: "m1", within: .seconds(1))])
        #expect(session.state.attempt?.instance == "welcome-1")
        session.answer("event.MenuReady", [:], to: "m1")
        #expect(session.presented == ["menu"])
    }

    @Test("A question that cannot be filled in fails the rule, and no attempt begins")
    func unaskable() throws {
        var session = Session(try GuardFlow.flow())
        session.send("command.Begin")
        let before = session.machine
        #expect(session.send("command.Next").failureCodes == ["navigation.unresolvedTemplate"])
        #expect(session.machine == before)
    }

    @Test("If an action fails after an accepted answer, none is applied, and the attempt ends")
    func impossible() throws {
        var session = try GuardFlow.waiting()
        #expect(session.answer("event.DraftChecked", ["ok": true]).failureCodes == ["navigation.unresolvedTemplate"])
        #expect(session.state.attempt == nil)
        #expect(session.path == ["form"])
        #expect(session.machine.revision == 3)
    }

    @Test(
        "A guard can accept and reject messages of several types",
        arguments: ["event.Saved", "event.Skipped", "error.Disk"])
    func severalAnswers(type: String) throws {
        let flow = try Flow("answers", version: 1, platform: "ios", start: "a") {
            Flow.Screen("a")
            Flow.Transition(
                on: "command.Save",
                guard: Flow.Guard(
                    accept: .init("event.Saved", "event.Skipped"), reject: .init("error.Disk", "error.Network"),
                    deadline: .seconds(1), rejected: [.send(type: "command.Refused")]),
                do: [.send(type: "command.Accepted")])
        }
        #expect(try Flow(yaml: flow.json.description, file: "written.json") == flow)
        #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        #expect(flow.messageTypes.isSuperset(of: ["event.Saved", "event.Skipped", "error.Disk", "error.Network"]))
        var session = Session(flow)
        session.send("command.Save")
        let sent = session.send(type, causedBy: "m1").sent
        #expect(sent == [type == "error.Disk" ? "command.Refused" : "command.Accepted"])
        #expect(session.state.attempts.isEmpty)
    }

    @Test("A message that is too large for a snapshot cannot wait")
    func tooLarge() throws {
        var session = Session(try GuardFlow.flow())
        session.send("command.Begin")
        let data: JSONValue = ["name": .string(String(repeating: "x", count: 65536))]
        #expect(
            session.send("command.Next", data).discards
                == ["command.Next: the data exceeds 65536 bytes, the limit for a message that waits"])
        #expect(session.state.attempt == nil)
    }
}

@Suite("Guards within child flows")
struct GuardedChildFlowTests {
    @Test("An accepted answer finishes the child flow, and its parent receives the result, in one step")
    func finishes() throws {
        var session = try LinkedSignUpFlow.waiting()
        #expect(session.state.attempt?.run == "signUp-3")
        let effects = session.checkName()
        #expect(session.path == ["done"])
        #expect(session.state.top.arguments == ["name": "Anna"])
        #expect(session.state.top.run == nil)
        #expect(session.state.runs.isEmpty && session.state.attempt == nil)
        #expect(effects.dismissals == ["credentials-2"])
        #expect(effects.discards.isEmpty)
        #expect(session.machine.revision == 3)
    }

    @Test("The same question in another flow leads to that flow's screen")
    func sameQuestion() throws {
        var session = Session(try LinkedSignUpFlow.flow())
        session.send("command.Unheard")
        session.send("command.Finish", ["name": "anna"])
        session.checkName()
        #expect(session.path == ["item"])
    }

    @Test("Queued commands are processed after the child flow has finished, and a second answer is discarded")
    func queue() throws {
        var session = try LinkedSignUpFlow.waiting()
        session.send("command.Help")
        session.checkName()
        #expect(session.path == ["done", "help"])
        #expect(session.machine.snapshot.memory.attempts == [Session.question])
        #expect(session.checkName().discards == ["event.NameChecked: attempt 'm2.ios.ask' has ended"])
    }

    @Test("A screen that a guarded rule opens belongs to its run, even if another flow is in front")
    func scope() throws {
        var session = try LinkedSignUpFlow.waiting()
        session.send("event.SignUpPresented")
        session.report("PresentationDismissed", "credentials-4")
        #expect(session.state.attempt != nil)
        session.checkName(false)
        #expect(session.path == ["credentials", "help"])
        #expect(session.state.top.run == "signUp-3")
    }

    @Test("An abandoned run ends its attempt, rules receive its end, and a later answer is discarded")
    func abandoned() throws {
        var session = try LinkedSignUpFlow.waiting()
        let effects = session.report("BackCompleted", "credentials-2")
        #expect(effects.sent == ["command.TellSupport"])
        #expect(effects.discarded == ["m2"])
        #expect(session.path.isEmpty)
        #expect(session.state.attempt == nil)
        let before = session.machine
        #expect(session.checkName().discards == ["event.NameChecked: attempt 'm2.ios.ask' has ended"])
        #expect(session.machine == before)
    }

    @Test("A run that is abandoned in a column ends its attempt, although the attempt's screen stays")
    func abandonedBeside() throws {
        var session = Session(try LinkedSignUpFlow.flow())
        session.send("event.Split")
        session.send("event.SignUpBeside")
        session.send("command.Finish", ["name": "anna"])
        let attempt = try #require(session.state.attempt)
        #expect(attempt.run == "signUp-5")
        #expect(session.state.root.instance.id == attempt.instance)
        let effects = session.report("BackCompleted", "credentials-4")
        #expect(
            effects.discards == [
                "command.Finish: run 'signUp-5' of a child flow, whose rule waited for an answer, has ended"
            ])
        #expect(session.state.attempt == nil)
    }

    @Test("A rule that matches a flow's end cannot wait", arguments: ["flow.finished", "flow.abandoned"])
    func ending(type: String) {
        let yaml = """
            name: shop
            version: 1
            platform: ios
            start: list
            screens: { list: , item: }
            flows: { child: { start: item, transitions: [] } }
            transitions:
              - on: \(type)
                guard: { accept: event.Saved, deadline: 1s }
                do: [pop]
            """
        let error = #expect(throws: FlowError.self) { try Flow(yaml: yaml, file: "shop.yaml") }
        let why = "cannot have a guard; move the guard to the rule that ends the child flow"
        #expect(error?.message == "shop.yaml:8:5: a rule on '\(type)' \(why)")
    }
}
