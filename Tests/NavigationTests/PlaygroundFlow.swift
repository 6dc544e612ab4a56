import Navigation

/// A flow in which `event.Go` with a number takes that one of ``steps``: everything that actions can do, in any order.
enum PlaygroundFlow {
    static func flow() throws -> Flow { try made.get() }

    /// What each number does. Some of it can only be done in certain states.
    static let steps: [[Flow.Action]] = [
        [.setRoot("a")],
        [.setRoot("b", container: .split), .show("c", column: "detail")],
        [.setRoot("c", container: .tabs(["d", .tab("more", "e")]))],
        [.setRoot("a", container: .tabs(["a", "b"])), .push("c")],
        [.push("a")], [.push("b")], [.push("c"), .push("d")],
        [.push("d", column: "detail"), .push("c", column: "detail")],
        [.show("e", column: "detail")], [.show("a", column: "side")],
        [.pop], [.pop(2)], [.pop("a")], [.pop(1, column: "detail")], [.popToRoot], [.replacePath(["b", "c"])],
        [.selectTab("d")], [.selectTab("more")],
        [.present("a", as: .sheet)], [.present("b", as: .popover), .push("c")], [.present("d", as: .fullScreen)],
        [.present("e", as: .alert, options: question)], [.present("c", as: .dialog, options: question)],
        [.present("b", as: .sheet, options: PresentationOptions(interactiveDismissal: false)), .push("d")],
        [.present("a", as: .window)],
        [.pushFlow("wizard")], [.pushFlow("nested"), .push("c")], [.pushFlow("wizard", column: "detail")],
        [.presentFlow("nested", as: .sheet)], [.presentFlow("wizard", as: .popover), .push("a")],
        [.dismiss(nil)], [.dismiss("a")], [.dismissAll],
    ]

    private static let made = Result {
        try Flow("playground", version: 1, platform: "playground", start: "a", requests: [.push, .pop, .popToRoot]) {
            for name in ["a", "b", "c", "d", "e"] { Flow.Screen(name) }
            for child in ["wizard", "nested"] { Flow.Child(child, start: "e", transitions: childRules(child)) }
            for type in ["flow.finished", "flow.abandoned"] {
                Flow.Transition(on: type, where: ["flow": "wizard"], when: [.path("a")], do: [.push("b")])
                Flow.Transition(on: type, when: [.top("c")], do: [.pushFlow("wizard")])
            }
            for (number, actions) in steps.enumerated() {
                Flow.Transition(on: "event.Go", where: ["step": .value(.integer(number))], do: actions)
            }
        }
    }

    /// Rules that answer some of the steps in a way of their own, and end the flow with others.
    private static func childRules(_ name: String) -> [Flow.Transition] {
        let own: [(Int, [Flow.Action])] = [
            (4, [.push("d"), .finish(["by": .string(name)])]), (5, [.abandon]), (6, [.pushFlow("nested"), .finish()]),
            (8, [.show("b", column: "detail")]), (10, [.popToRoot]), (15, [.replacePath(["a", "b"])]),
            (18, [.present("a", as: .sheet), .push("b")]), (24, [.dismissAll, .push("a")]),
            (25, [.pushFlow("nested")]), (28, [.presentFlow("wizard", as: .sheet)]),
        ]
        return own.map { step, actions in
            Flow.Transition(on: "event.Go", where: ["step": .value(.integer(step))], do: actions)
        } + [Flow.Transition(on: "flow.finished", where: ["flow": "nested"], do: [.finish()])]
    }

    private static let question = PresentationOptions(
        title: "Sure?", buttons: [AlertButton(id: "open", title: "Yes"), AlertButton(id: "cancel", title: "No")])
}
