package import Navigation
package import Support

/// A flow with a form and a menu. `command.Next` waits until a service has saved the form, and `event.Out` replaces all
/// screens.
package enum GuardFlow {
    package static let saved: Flow.Guard = saving()

    package static func saving(
        deadline: Duration = .seconds(5),
        meanwhile: Flow.Guard.Meanwhile = .drop,
        rejected: [Flow.Action] = [.present(.screen("sorry", ["why": "${answer.why}"]), as: .sheet)],
        expired: [Flow.Action] = [.present(.screen("sorry", ["why": "late", "name": "${data.name}"]), as: .sheet)]
    ) -> Flow.Guard {
        Flow.Guard(
            ask: Flow.Guard.Ask("command.SaveDraft", data: ["name": "${data.name}"]),
            accept: Flow.Guard.Answer("event.DraftChecked", where: ["ok": true]),
            reject: Flow.Guard.Answer("event.DraftChecked", where: ["ok": false]),
            deadline: deadline,
            meanwhile: meanwhile,
            rejected: rejected,
            expired: expired
        )
    }

    package static func flow(_ condition: Flow.Guard = saved, menuDeadline: Duration = .seconds(1)) throws -> Flow {
        try Flow("form", version: 1, platform: "ios", start: "welcome") {
            for name in ["welcome", "form", "done", "menu", "sorry", "out"] { Flow.Screen(name) }
            Flow.Transition(on: "event.Out", do: [.setRoot("out")])
            Flow.Transition(on: "event.Warned", do: [.present("sorry", as: .sheet)])
            Flow.Transition(on: "command.Begin", when: [.path()], do: [.push("form")])
            Flow.Transition(
                on: "command.Next",
                when: [.top("form")],
                guard: condition,
                do: [
                    .push(.screen("done", ["name": "${data.name}", "draft": "${answer.draft}"])),
                    .openURL("https://example.org/${data.name}"),
                ]
            )
            Flow.Transition(
                on: "command.MenuOpened",
                guard: Flow.Guard(accept: "event.MenuReady", deadline: menuDeadline, meanwhile: .queue),
                do: [.present("menu", as: .sheet)]
            )
            Flow.Transition(on: "command.Again", when: [.path("done")], do: [.push("form")])
            Flow.Transition(on: "command.Home", do: [.popToRoot])
        }
    }

    /// A session with the form in front. The message `m2`, a `command.Next`, waits for the answer to `m2.ios.ask`.
    package static func waiting(_ condition: Flow.Guard = saved) throws -> Session {
        var session = Session(try flow(condition))
        session.send("command.Begin")
        session.send("command.Next", ["name": "Bach"], platform: "ios", instance: "form-2")
        return session
    }
}

extension Session {
    package static let question = "m2.ios.ask"

    @discardableResult
    package mutating func answer(
        _ type: String = "event.DraftChecked",
        _ data: JSONValue = ["ok": true, "draft": 7],
        to attempt: String = Session.question
    ) -> [Machine.Effect] {
        send(type, data, causedBy: attempt)
    }

    @discardableResult
    package mutating func reject() -> [Machine.Effect] {
        answer("event.DraftChecked", ["ok": false, "why": "no name"])
    }

    @discardableResult
    package mutating func expire(_ attempt: String = Session.question) -> [Machine.Effect] {
        send("event.GuardDeadlinePassed", ["attempt": .string(attempt)], platform: "ios")
    }
}
