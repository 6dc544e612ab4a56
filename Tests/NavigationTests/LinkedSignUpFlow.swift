import Navigation

/// A shop with deep links, whose sign-up is a child flow that waits for an answer before it ends.
enum LinkedSignUpFlow {
    static func flow(
        over: [PresentationStyle: Flow.Precedence] = [:], park: Duration = Flow.Link.usualPark, isWhole: Bool = true,
        abandoned: [Flow.Action] = [.send("command.TellSupport", data: ["run": "${data.run}"])]
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
            // Asks what the sign-up asks, but does something else.
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
            do: [.finish(["name": "${answer.name}"])]),
    ]

    private static let check = Flow.Guard(
        ask: Flow.Guard.Ask("command.CheckName", data: ["name": "${data.name}"]),
        accept: Flow.Guard.Answer("event.NameChecked", where: ["ok": true]),
        reject: Flow.Guard.Answer("event.NameChecked", where: ["ok": false]),
        deadline: .seconds(5),
        meanwhile: .queue,
        rejected: [.push("help")]
    )

    /// The sign-up is in front, and its end, which was `m2`, waits for `m2.ios.ask`.
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
