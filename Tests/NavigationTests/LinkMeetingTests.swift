import Foundation
import Navigation
import SampleFlows
import Support
import Testing

@Suite("Deep links with child flows and attempts")
struct LinkMeetingTests {
    @Test(
        "A link that closes the screens of a running child flow abandons it, in the same step",
        arguments: ["event.SignUpPushed", "event.SignUpPresented"])
    func overRun(begin: String) throws {
        var session = Session(try LinkedSignUpFlow.flow())
        session.send(begin)
        session.send("event.CodeSent")
        let effects = session.open("shop://item/7")
        #expect(session.state.open.map(\.screen) == ["list", "item"])
        #expect(session.state.runs.isEmpty)
        #expect(effects.dismissals == ["code-4", "credentials-2"])
        #expect(effects.contains(.send(type: "command.TellSupport", data: ["run": "signUp-3"])))
        #expect(session.machine.revision == 3)
        #expect(session.machine.snapshot.url == "shop://item/7")
    }

    @Test("A screen that a rule opens on the end of a run does not prevent or change a link's target")
    func overWhatFollowsARun() throws {
        let rules: [[Flow.Action]] = [
            [.push("help"), .send(type: "command.TellSupport")],
            [.setRoot("help"), .send(type: "command.TellSupport")],
            [.present("help", as: .sheet), .send(type: "command.TellSupport")],
            // The rule is not applied to the end of the run that it begins here, because that run was never visible.
            [.pushFlow("signUp"), .send(type: "command.TellSupport")],
        ]
        for actions in rules {
            var session = Session(try LinkedSignUpFlow.flow(abandoned: actions))
            session.send("event.SignUpPushed")
            let effects = session.open("shop://item/7")
            #expect(session.state.open.map(\.screen) == ["list", "item"])
            #expect(session.machine.snapshot.url == "shop://item/7")
            #expect(effects.sent == ["command.TellSupport"])
            #expect(session.state.runs.isEmpty && effects.failureCodes.isEmpty)
            #expect(session.machine.revision == 2)
        }
    }

    @Test("A link waits for the answer to an alert that a rule shows on the end of a run")
    func questionAfterARun() throws {
        let question = PresentationOptions(title: "Why?", buttons: [AlertButton(id: "ok", title: "OK")])
        let asking: [Flow.Action] = [.present("help", as: .alert, options: question)]
        var session = Session(try LinkedSignUpFlow.flow(abandoned: asking))
        session.send("event.SignUpPushed")
        #expect(session.open("shop://item/7").discarded.isEmpty)
        #expect(session.state.runs.isEmpty && session.presented == ["help"])
        session.report("AlertAnswered", session.state.top.id, ["button": "ok"])
        #expect(session.machine.snapshot.url == "shop://item/7")

        var hasty = Session(try LinkedSignUpFlow.flow(park: .zero, abandoned: asking))
        hasty.send("event.SignUpPushed")
        #expect(hasty.open("shop://item/7").discarded == ["m2"])
        #expect(hasty.state.parked == nil && hasty.presented == ["help"])
    }

    @Test("A screen of a child flow is not the target of a link, and has no URL")
    func runHasNoURL() throws {
        var session = Session(try LinkedSignUpFlow.flow())
        session.send("event.SignUpPushed")
        session.send("event.CodeSent")
        #expect(session.path == ["credentials", "code"])
        #expect(session.machine.snapshot.url == nil)
        #expect(session.open("shop://code").dismissals == ["code-4", "credentials-2"])
        #expect(session.state.path.map(\.id) == ["credentials-5", "code-6"])
        #expect(session.state.path.map(\.run) == [nil, nil])
        #expect(session.machine.snapshot.url == "shop://code")
    }

    @Test("A link that closes an attempt's screen ends the attempt, and then the queue is processed")
    func endsAttempt() throws {
        var session = try LinkedSignUpFlow.waiting()
        session.send("command.Help")
        #expect(session.state.attempt?.queue.count == 1)
        let effects = session.open("shop://item/7")
        #expect(
            effects.discards == [
                "command.Finish: screen instance 'credentials-2', which waited for an answer, was dismissed"
            ])
        #expect(effects.sent == ["command.TellSupport"])
        #expect(session.path == ["item", "help"])
        #expect(session.state.attempt == nil)
        #expect(session.machine.revision == 3 + 2)
        #expect(session.checkName().discarded == ["m5"], "the answer comes late")
    }

    @Test("A link that keeps an attempt's screen keeps the attempt")
    func leavesAttempt() throws {
        var session = Session(try LinkedSignUpFlow.flow())
        session.send("command.Save")
        #expect(session.open("shop://item/7").discards.isEmpty)
        #expect(session.path == ["item"])
        #expect(session.state.attempt?.id == "m1")
        session.send("event.Saved", causedBy: "m1")
        #expect(session.path == ["item", "done"])
    }

    @Test("A parked link is followed in the step that finishes a child flow")
    func parkedUntilFinished() throws {
        var session = try LinkedSignUpFlow.waiting("event.SignUpPresented", over: [.sheet: .wait])
        session.open("shop://item/7")
        #expect(session.state.parked != nil)
        #expect(session.presented == ["credentials"])
        session.send("command.Help")
        let revision = session.machine.revision
        let effects = session.checkName()
        // The rule on the flow's end applies first, then the link replaces the screens that the rule opened, then the
        // queue is handled.
        #expect(effects.dismissals == ["credentials-2", "done-4"])
        #expect(session.path == ["item", "help"])
        #expect(session.presented.isEmpty)
        #expect(session.state.parked == nil && session.state.attempt == nil && session.state.runs.isEmpty)
        #expect(session.machine.revision == revision + 2)
    }

    @Test("A parked link that is followed ends an attempt whose screen it closes")
    func parkedEndsAttempt() throws {
        var session = Session(try LinkedSignUpFlow.flow(over: [.sheet: .wait]))
        session.open("shop://item/1")
        session.send("command.Save", platform: "ios", instance: session.state.top.id)
        session.send("event.SignUpPresented")
        session.open("shop://item/7")
        #expect(session.state.parked != nil)
        let effects = session.report("PresentationDismissed", session.state.top.id)
        #expect(effects.discarded == ["m2"])
        #expect(effects.sent == ["command.TellSupport"])
        #expect(session.state.attempt == nil)
        #expect(session.machine.snapshot.url == "shop://item/7")
    }

    @Test("A run, an attempt and a parked link are restored, or dropped in one revision if the flow lacks them")
    func restored() throws {
        var session = try LinkedSignUpFlow.waiting("event.SignUpPresented", over: [.sheet: .wait])
        session.open("shop://item/7")
        let stored = try JSONEncoder().encode(session.machine.snapshot)
        let snapshot = try JSONDecoder().decode(NavigationSnapshot.self, from: stored)
        let same = Restoration(snapshot, flow: session.machine.flow)
        #expect(same.machine == session.machine)
        #expect(same.effects == [.expectAnswer(attempt: Session.question, within: .seconds(5))])

        let without = Restoration(snapshot, flow: try LinkedSignUpFlow.flow(isWhole: false))
        #expect(without.machine.state.open.map(\.screen) == ["list"])
        #expect(without.machine.state.runs.isEmpty)
        #expect(without.machine.state.attempt == nil && without.machine.state.parked == nil)
        #expect(without.effects.discarded.sorted() == ["m2", "m3"])
        #expect(without.machine.revision == snapshot.revision + 1)
    }
}

/// A shop with deep links and a child flow for signing up. The rule that finishes the child flow has a guard.
enum LinkedSignUpFlow {
    static func flow(
        over: [PresentationStyle: Flow.Precedence] = [:], park: Duration = Flow.Link.usualPark, isWhole: Bool = true,
        abandoned: [Flow.Action] = [.send(type: "command.TellSupport", data: ["run": "${data.run}"])]
    ) throws -> Flow {
        try Flow("shop", version: 1, platform: "ios", start: "list") {
            for name in ["list", "item", "credentials", "code", "done", "help"] { Flow.Screen(name) }
            if isWhole {
                Flow.Child("signUp", start: "credentials", transitions: signUp)
                Flow.Transition(on: "event.SignUpPushed", do: [.pushFlow("signUp")])
                Flow.Transition(on: "event.SignUpPresented", do: [.presentFlow("signUp", as: .sheet)])
                Flow.Transition(on: "event.SignUpBeside", do: [.pushFlow("signUp", column: "side")])
                link("shop://item/{id}", [.screen("item", ["id": "${url.id}"])], over, park)
                link("shop://code", ["credentials", "code"], over)
            }
            Flow.Transition(
                on: "event.Split", do: [.setRoot("list", container: .split), .show("item", column: "side")])
            Flow.Transition(
                on: "flow.finished", do: [.push(.screen("done", ["name": "${data.result.name}"]))])
            Flow.Transition(on: "flow.abandoned", do: abandoned)
            Flow.Transition(on: "command.Help", do: [.push("help")])
            // The guard asks the same question as the guard in the sign-up, but the rule has other actions.
            Flow.Transition(on: "command.Finish", guard: check, do: [.push("item")])
            Flow.Transition(
                on: "command.Save",
                guard: Flow.Guard(accept: "event.Saved", deadline: .seconds(1), meanwhile: .queue),
                do: [.push("done")])
            link("shop://list", [], over)
        }
    }

    private static func link(
        _ url: String, _ path: [Flow.Destination], _ over: [PresentationStyle: Flow.Precedence],
        _ park: Duration = Flow.Link.usualPark
    ) -> Flow.Link {
        Flow.Link(url, to: .init(root: "list", path: path), park: park, over: over)
    }

    private static let signUp = [
        Flow.Transition(on: "event.CodeSent", do: [.push("code")]),
        Flow.Transition(
            on: "command.Finish",
            guard: check,
            do: [.finish(result: ["name": "${answer.name}"])]),
    ]

    private static let check = Flow.Guard(
        ask: Flow.Guard.Ask("command.CheckName", data: ["name": "${data.name}"]),
        accept: Flow.Guard.Answer("event.NameChecked", where: ["ok": true]),
        reject: Flow.Guard.Answer("event.NameChecked", where: ["ok": false]),
        deadline: .seconds(5),
        meanwhile: .queue,
        rejected: [.push("help")]
    )

    /// A session in which the sign-up is in front, and the command to finish it, `m2`, waits for the answer to
    /// `m2.ios.ask`.
    static func waiting(
        _ begin: String = "event.SignUpPushed",
        over: [PresentationStyle: Flow.Precedence] = [:]
    ) throws -> Session {
        var session = Session(try flow(over: over))
        session.send(begin)
        session.send("command.Finish", ["name": "anna"], platform: "ios", instance: "credentials-2")
        return session
    }
}

extension Session {
    /// Answers the guard of ``LinkedSignUpFlow/waiting(_:over:)``.
    @discardableResult
    mutating func checkName(_ ok: Bool = true) -> [Machine.Effect] {
        send("event.NameChecked", ["ok": .bool(ok), "name": "Anna"], causedBy: Session.question)
    }
}
