import Navigation
import SampleFlows
import Support
import Testing

@Suite("Messages while a guard waits")
struct GuardMeanwhileTests {
    @Test("By default, the user's commands are discarded with a report while a guard waits")
    func drop() throws {
        var session = try GuardFlow.waiting()
        let before = session.machine
        for type in ["command.Home", "command.Next", "command.MenuOpened"] {
            #expect(session.send(type, ["name": "x"]).discards == ["\(type): command.Next waits for an answer"])
        }
        #expect(session.send("command.Again").isEmpty, "what no rule would answer is not worth a word")
        #expect(session.machine == before)
    }

    @Test("A request of a view is held back like any command, although no rule answers it")
    func requests() throws {
        var dropping = try GuardFlow.waiting()
        #expect(dropping.send("command.NavigationRequested").discards.count == 1)
        var queueing = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
        #expect(queueing.send("command.NavigationRequested").isEmpty)
        #expect(queueing.send("command.Unheard").isEmpty)
        #expect(queueing.state.attempt?.queue.map(\.type) == ["command.NavigationRequested"])
    }

    @Test("Queued commands are processed in their order, each in a step with its own cause")
    func queue() throws {
        var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
        #expect(session.send("command.Again").isEmpty)
        #expect(session.send("command.Home", platform: "ios").isEmpty)
        #expect(session.send("command.Begin").isEmpty)
        #expect(session.state.attempt?.queue.map(\.type) == ["command.Again", "command.Home", "command.Begin"])
        #expect(session.path == ["form"])
        let effects = session.answer()
        #expect(session.path == ["form"])
        #expect(effects.dismissals == ["form-4", "done-3", "form-2"])
        #expect(session.state.path.last?.id == "form-5")
        #expect(session.machine.cause == "m5")
        #expect(session.machine.revision == 5 + 4)
        let passed = effects.passed
        #expect(passed.map(\.revision) == [6, 7, 8])
        #expect(passed.map(\.cause) == ["m6", "m3", "m4"])
        #expect(passed.map { $0.state.path.map(\.screen) } == [["form", "done"], ["form", "done", "form"], []])
        #expect(effects.contains(.began(Machine.Attributes(platform: "ios"))))
    }

    @Test("Queued commands are also processed after a rejection, a deadline or the end of the screen")
    func queueAfterOtherEnds() throws {
        let ends: [(String, (inout Session) -> [Machine.Effect])] = [
            ("rejected", { $0.reject() }), ("expired", { $0.expire() }),
            ("gone", { $0.report("BackCompleted", "form-2") }),
        ]
        for (name, end) in ends {
            var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
            session.send("command.MenuOpened")
            let effects = end(&session)
            #expect(session.state.attempt?.id == "m3", "\(name)")
            #expect(effects.contains(.expectAnswer(attempt: "m3", within: .seconds(1))))
        }
    }

    @Test("A queued command of a screen that has been dismissed is discarded with a report")
    func queuedTooLate() throws {
        var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
        session.send("command.Home", platform: "ios", instance: "form-2")
        let effects = session.report("BackCompleted", "form-2")
        #expect(
            effects.discards == [
                "command.Next: screen instance 'form-2', which waited for an answer, was dismissed",
                "command.Home: screen instance 'form-2' was dismissed or never existed",
            ])
    }

    @Test("A queued command is discarded with a report if it has expired by the time of the answer")
    func queuedAndExpired() throws {
        for (time, path) in [(1000, []), (1001, ["form", "done"])] {
            var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
            session.send("command.Home", attributes: Machine.Attributes(time: 1, expiry: 1000))
            let answer = Machine.Attributes(causationID: Session.question, time: time)
            let effects = session.send("event.DraftChecked", ["ok": true, "draft": 7], attributes: answer)
            #expect(session.path == path)
            #expect(effects.discards == (path.isEmpty ? [] : ["command.Home: expired"]))
        }
    }

    @Test("A queue is bounded in number and size, and what exceeds it is discarded with a report")
    func overflow() throws {
        var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
        for _ in 0..<16 { #expect(session.send("command.Home").isEmpty) }
        let before = session.machine
        #expect(session.send("command.Home").discards == ["command.Home: 16 messages are queued already"])
        let large: JSONValue = [.string(String(repeating: "x", count: 65536))]
        #expect(session.machine == before)
        var other = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
        #expect(
            other.send("command.Home", large).discards == [
                "command.Home: the data exceeds 65536 bytes, the limit for a queued message"
            ])
    }

    @Test("A queued command can wait again, for an attempt that an earlier one of the queue began")
    func queuedTwice() throws {
        var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
        session.send("command.MenuOpened")
        session.send("command.Home")
        session.answer()
        #expect(session.state.attempt?.id == "m3")
        #expect(session.state.attempt?.queue.map(\.id) == ["m4"])
        session.answer("event.MenuReady", [:], to: "m3")
        #expect(session.presented == ["menu"])
        #expect(session.state.attempt == nil)
    }

    @Test(
        "Messages queued for an attempt that ends meanwhile are still processed in their order"
    )
    func orderOfReleases() throws {
        let condition = Flow.Guard(accept: "event.Ready", deadline: .seconds(1), meanwhile: .queue)
        let flow = try Flow("order", version: 1, platform: "ios", start: "a") {
            for name in ["a", "b", "c"] { Flow.Screen(name) }
            Flow.Transition(on: "command.Go", when: [.root("a")], guard: condition, do: [.push("b")])
            Flow.Transition(on: "event.Flip", when: [.path()], guard: condition, do: [.push("c")])
            Flow.Transition(on: "event.Flip", do: [.setRoot("c")])
            Flow.Transition(on: "command.One", when: [.root("c")], do: [.push("a")])
            Flow.Transition(on: "command.Two", when: [.root("c")], do: [.push("b")])
        }
        var session = Session(flow)
        for type in ["command.Go", "command.Go", "command.One", "event.Flip", "command.Two"] { session.send(type) }
        #expect(session.state.attempt?.queue.map(\.id) == ["m2", "m3", "m4", "m5"])
        // After the first answer, the second Go waits on screen b, and One is queued. Flip is handled at once and ends
        // this attempt, so One is handled before Two.
        session.answer("event.Ready", [:], to: "m1")
        #expect(session.root == "c")
        #expect(session.path == ["a", "b"])
    }

    @Test("A message that arrives twice is queued once")
    func repeated() throws {
        var machine = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue)).machine
        let inputs = [
            Machine.Input(id: "m2", type: "command.Next", data: ["name": "Bach"]),
            Machine.Input(id: "x", type: "command.Home"), Machine.Input(id: "x", type: "command.Home"),
        ]
        for input in inputs { #expect(machine.handle(input).isEmpty) }
        #expect(machine.state.attempt?.queue.map(\.id) == ["x"])
    }

    @Test("A guarded rule that supersedes replaces the attempt, and the former answer is discarded")
    func supersede() throws {
        var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .supersede))
        let effects = session.send("command.Next", ["name": "Brahms"])
        #expect(effects.discards == ["command.Next: a newer command.Next replaced the waiting message"])
        #expect(effects.first == .messageDiscarded(messageID: "m2", reason: effects.discards[0]))
        #expect(session.state.attempt?.id == "m3.ios.ask")
        #expect(session.answer().discards == ["event.DraftChecked: attempt 'm2.ios.ask' has ended"])
        session.answer(to: "m3.ios.ask")
        #expect(session.state.path.last?.arguments["name"] == "Brahms")
    }

    @Test("With 'supersede', a command without a guard is processed at once, and the attempt continues")
    func supersedeWithoutGuard() throws {
        var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .supersede))
        #expect(session.send("command.Begin").isEmpty)
        #expect(session.state.attempt?.id == Session.question)
        #expect(session.send("command.Home").discards.count == 1)
        #expect(session.state.attempt == nil)
    }

    @Test(
        "An event is processed at once, and an attempt whose screen it closes is discarded with a report",
        arguments: [
            Flow.Guard.Meanwhile.drop, .queue, .supersede,
        ])
    func fact(meanwhile: Flow.Guard.Meanwhile) throws {
        var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: meanwhile))
        let effects = session.send("event.Out")
        #expect(session.root == "out")
        #expect(session.state.attempt == nil)
        #expect(session.machine.revision == 3)
        #expect(
            effects.discards == ["command.Next: screen instance 'form-2', which waited for an answer, was dismissed"])
        #expect(session.answer().discards == ["event.DraftChecked: attempt 'm2.ios.ask' has ended"])
        #expect(session.expire().isEmpty)
    }

    @Test("An event that would begin another attempt is queued like a command")
    func guardedEvent() throws {
        let flow = try Flow("two", version: 1, platform: "ios", start: "a") {
            Flow.Screen("a")
            Flow.Screen("b")
            for name in ["First", "Second"] {
                Flow.Transition(
                    on: "event.\(name)",
                    guard: Flow.Guard(accept: "event.Ready", deadline: .seconds(1), meanwhile: .queue),
                    do: [.push(.screen("b", ["for": .string(name)]))])
            }
        }
        var session = Session(flow)
        session.send("event.First")
        session.send("event.Second")
        #expect(session.state.attempt?.queue.map(\.id) == ["m2"])
        session.answer("event.Ready", [:], to: "m1")
        session.answer("event.Ready", [:], to: "m2")
        #expect(session.state.path.map(\.arguments) == [["for": "First"], ["for": "Second"]])
    }

    @Test("An accepted answer whose rule no longer matches the state ends the attempt and changes nothing else")
    func otherState() throws {
        var session = try GuardFlow.waiting()
        session.send("event.Warned")
        #expect(session.state.attempt != nil)
        let effects = session.answer()
        #expect(
            effects.discards
                == ["command.Next: the message was accepted, but the state no longer fulfils the rule's conditions"])
        #expect(session.path == ["form"])
        #expect(session.state.attempt == nil)
    }

    @Test("A swipe back that completes while a guard waits closes the screen and ends the attempt")
    func back() throws {
        var session = try GuardFlow.waiting()
        for report in ["BackStarted", "BackCancelled", "BackStarted"] {
            #expect(session.report(report, "form-2").isEmpty)
            #expect(session.state.attempt != nil)
        }
        let effects = session.report("BackCompleted", "form-2")
        #expect(session.path.isEmpty)
        #expect(effects.dismissals == ["form-2"])
        #expect(
            effects.discards == ["command.Next: screen instance 'form-2', which waited for an answer, was dismissed"])
        #expect(session.answer().discards == ["event.DraftChecked: attempt 'm2.ios.ask' has ended"])
        #expect(session.path.isEmpty)
    }

    @Test("A screen that an answer opens during a swipe back closes with the screen beneath it")
    func acceptedDuringBack() throws {
        var session = try GuardFlow.waiting()
        session.report("BackStarted", "form-2")
        session.answer()
        #expect(session.path == ["form", "done"])
        let effects = session.report("BackCompleted", "form-2")
        #expect(session.path.isEmpty)
        #expect(effects.dismissals == ["done-3", "form-2"])
        #expect(session.report("BackCompleted", "form-2").isEmpty)
    }

    @Test("A screen that an answer opens during a swipe back stays if the swipe is cancelled")
    func acceptedDuringCancelledBack() throws {
        var session = try GuardFlow.waiting()
        session.report("BackStarted", "form-2")
        session.answer()
        #expect(session.report("BackCancelled", "form-2").isEmpty)
        #expect(session.path == ["form", "done"])
    }

    @Test("A pop by a rule and the swipe back that it overtakes close the screen once")
    func leftDuringBack() throws {
        let flow = try Flow("leaving", version: 1, platform: "ios", start: "a") {
            Flow.Screen("a")
            Flow.Screen("b")
            Flow.Transition(on: "event.Go", do: [.push("b")])
            Flow.Transition(
                on: "command.Done",
                guard: Flow.Guard(accept: "event.Saved", deadline: .seconds(1)),
                do: [.pop]
            )
        }
        var session = Session(flow)
        session.send("event.Go")
        session.send("command.Done", platform: "ios", instance: "b-2")
        session.report("BackStarted", "b-2")
        #expect(session.answer("event.Saved", [:], to: "m2").dismissals == ["b-2"])
        let after = session.machine
        #expect(session.report("BackCompleted", "b-2").isEmpty)
        #expect(session.machine == after)
        #expect(session.leaving == ["b-2"])
    }
}
