import Navigation
import SampleFlows
import Support
import Testing

@Suite("While a guard waits")
struct GuardMeanwhileTests {
    @Test("By default the user's commands are discarded visibly, also the same one again")
    func drop() throws {
        var session = try GuardFlow.waiting()
        let before = session.machine
        for type in ["command.Home", "command.Next", "command.MenuOpened"] {
            #expect(session.send(type, ["name": "x"]).discards == ["\(type): command.Next waits for an answer"])
        }
        #expect(session.send("command.Again").isEmpty, "what no rule would answer is not worth a word")
        #expect(session.machine == before)
    }

    @Test("A request for an action by its name, which needs no rule, is held back like any command")
    func requests() throws {
        var dropping = try GuardFlow.waiting()
        #expect(dropping.send("command.NavigationRequested").discards.count == 1)
        var queueing = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue))
        #expect(queueing.send("command.NavigationRequested").isEmpty)
        #expect(queueing.send("command.Unheard").isEmpty)
        #expect(queueing.state.attempt?.queue.map(\.type) == ["command.NavigationRequested"])
    }

    @Test("Queued commands are processed afterwards in their order, each a step with a cause of its own")
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

    @Test("Queued commands are processed also after a rejection, a deadline and the end of the screen")
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

    @Test("A command that was queued by a screen which has gone meanwhile comes too late, visibly")
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

    @Test("A command that has expired by the time of the answer is discarded visibly, one that has not is processed")
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

    @Test("A queue has an end, and says so")
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

    @Test("What is queued can wait once more, for the attempt that one before it has begun")
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
        "What waited for an attempt that ends before the rest of the queue is processed is still processed in its order"
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

    @Test("A message that comes twice waits once")
    func repeated() throws {
        var machine = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .queue)).machine
        let inputs = [
            Machine.Input(id: "m2", type: "command.Next", data: ["name": "Bach"]),
            Machine.Input(id: "x", type: "command.Home"), Machine.Input(id: "x", type: "command.Home"),
        ]
        for input in inputs { #expect(machine.handle(input).isEmpty) }
        #expect(machine.state.attempt?.queue.map(\.id) == ["x"])
    }

    @Test("A guarded rule that supersedes takes the attempt's place, and the former answer comes too late")
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

    @Test("A command without a guard is processed at once by one that supersedes, and the attempt waits on")
    func supersedeWithoutGuard() throws {
        var session = try GuardFlow.waiting(GuardFlow.saving(meanwhile: .supersede))
        #expect(session.send("command.Begin").isEmpty)
        #expect(session.state.attempt?.id == Session.question)
        #expect(session.send("command.Home").discards.count == 1)
        #expect(session.state.attempt == nil)
    }

    @Test(
        "An event is a fact: out from everywhere, and the attempt is cancelled visibly",
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

    @Test("An event that would begin another attempt is held back like a command")
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

    @Test("An answer that finds another state than its rule asks for changes nothing but the attempt, visibly")
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

    @Test("A back that is started, cancelled, started and completed while it waits: the screen and the attempt go")
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

    @Test("Accepted in the middle of a swipe back, the new screen goes with the one that it lies on")
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

    @Test("Accepted in the middle of a swipe back that is then cancelled, the new screen stays")
    func acceptedDuringCancelledBack() throws {
        var session = try GuardFlow.waiting()
        session.report("BackStarted", "form-2")
        session.answer()
        #expect(session.report("BackCancelled", "form-2").isEmpty)
        #expect(session.path == ["form", "done"])
    }

    @Test("A rule that leaves the screen during its swipe back and the completed back want the same")
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
