import Navigation
import Testing

@Suite("Guards within child flows")
struct GuardedChildFlowTests {
    @Test("An accepted answer finishes the flow, and who began it gets the result, in one step")
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

    @Test("The same question of another flow leads where that flow says")
    func sameQuestion() throws {
        var session = Session(try LinkedSignUpFlow.flow())
        session.send("command.Unheard")
        session.send("command.Finish", ["name": "anna"])
        session.checkName()
        #expect(session.path == ["item"])
    }

    @Test("What was held back is met after the flow has finished, and a second answer comes late")
    func queue() throws {
        var session = try LinkedSignUpFlow.waiting()
        session.send("command.Help")
        session.checkName()
        #expect(session.path == ["done", "help"])
        #expect(session.machine.snapshot.memory.attempts == [Session.question])
        #expect(session.checkName().discards == ["event.NameChecked: the attempt 'm2.ios.ask' has ended"])
    }

    @Test("What the guard's rule opens belongs to the run, also when the answer comes with another flow in front")
    func scope() throws {
        var session = try LinkedSignUpFlow.waiting()
        session.send("event.SignUpPresented")
        session.report("PresentationDismissed", "credentials-4")
        #expect(session.state.attempt != nil)
        session.checkName(false)
        #expect(session.path == ["credentials", "help"])
        #expect(session.state.top.run == "signUp-3")
    }

    @Test("A run that is abandoned takes its attempt with it, both are told of, and the answer comes late")
    func abandoned() throws {
        var session = try LinkedSignUpFlow.waiting()
        let effects = session.report("BackCompleted", "credentials-2")
        #expect(effects.sent == ["command.TellSupport"])
        #expect(effects.discarded == ["m2"])
        #expect(session.path.isEmpty)
        #expect(session.state.attempt == nil)
        let before = session.machine
        #expect(session.checkName().discards == ["event.NameChecked: the attempt 'm2.ios.ask' has ended"])
        #expect(session.machine == before)
    }

    @Test("So does one in a column, where the attempt's own screen stays")
    func abandonedBeside() throws {
        var session = Session(try LinkedSignUpFlow.flow())
        session.send("event.Split")
        session.send("event.SignUpBeside")
        session.send("command.Finish", ["name": "anna"])
        let attempt = try #require(session.state.attempt)
        #expect(attempt.run == "signUp-5")
        #expect(session.state.root.instance.id == attempt.instance)
        let effects = session.report("BackCompleted", "credentials-4")
        #expect(effects.discards == ["command.Finish: the child flow's run 'signUp-5' has ended, whose rule waited"])
        #expect(session.state.attempt == nil)
    }

    @Test("A rule that hears of a flow's end cannot wait", arguments: ["flow.finished", "flow.abandoned"])
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
        let why = "cannot wait: the flow's end is one step; guard the rule that ends it"
        #expect(error?.message == "shop.yaml:8:5: a rule on '\(type)' \(why)")
    }
}
