import Navigation

/// Every kind of action, in every form.
enum EverythingFlow {
    static func flow() throws -> Flow {
        let buttons = [
            AlertButton(id: "1", title: "One", role: .destructive, sends: "command.A"),
            AlertButton(id: "2", title: "Two", role: .cancel), AlertButton(id: "3", title: "Three"),
        ]
        return try Flow("all", version: 2, platform: "ios", start: "a") {
            Flow.Screen("a", title: "yes")
            Flow.Screen("b")
            Flow.Child(
                "child", start: "b",
                transitions: [
                    Flow.Transition(on: "event.A", do: [.finish(["n": 1])]),
                    Flow.Transition(on: "event.B", do: [.finish()]), Flow.Transition(on: "event.C", do: [.abandon]),
                ])
            Flow.Transition(
                on: "event.Everything",
                where: ["n": 1, "flag": true, "word": ["true", "1"]],
                when: [.shown("a"), .path()],
                unless: [.top("b"), .presented("b")],
                origin: .own,
                do: [
                    .setRoot("a", container: .tabs(["a", .tab("y", .screen("b", ["id": 1]))])),
                    .setRoot("a", container: .split), .selectTab("y"), .push("b", column: "detail"),
                    .pop(2), .pop("a"), .pop(2, column: "detail"), .pop("a", column: "detail"),
                    .pop(1, column: "detail"),
                    .push(.screen("b", ["id": "${data.id}", "n": 3])), .pop, .popToRoot, .replacePath(["a", "b"]),
                    .present("b", as: .fullScreen),
                    .present("b", as: .sheet, options: PresentationOptions(interactiveDismissal: false)),
                    .present("b", as: .dialog, options: PresentationOptions(buttons: buttons)), .dismiss("b"),
                    .dismiss(nil), .dismissAll,
                    .show("b", column: "detail"), .openURL("https://example.org"), .send("command.A"),
                    .pushFlow("child"), .pushFlow("child", arguments: ["n": 1], column: "detail"),
                    .presentFlow("child", as: .sheet, options: PresentationOptions(detents: [.large])),
                    .send("command.B", data: ["list": [1.5, .null]]),
                ]
            )
        }
    }
}
