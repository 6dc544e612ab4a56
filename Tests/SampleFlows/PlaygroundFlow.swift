package import Navigation
import Support

/// A flow in which `event.Go` with a number performs the step of ``steps`` with that number. `command.Wait` waits for
/// an answer, also within child flows.
package enum PlaygroundFlow {
    package static func flow() throws -> Flow { try made.get() }

    /// The actions of each number. Some of them are possible only in certain states.
    package static let steps: [[Flow.Action]] = [
        [.setRoot("a")],
        [.setRoot("b", container: .split), .show("c", column: "detail")],
        [.setRoot("c", container: tabs)],
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
            Flow.Transition(on: "command.Wait", guard: wait(.queue), do: [.push("b")])
            Flow.Transition(on: "command.Push", do: [.push("a")])
            for link in links { link }
            for (number, actions) in steps.enumerated() {
                Flow.Transition(on: "event.Go", where: ["step": .value(.integer(number))], do: actions)
            }
        }
    }

    /// The rules of a child flow. Some of them replace steps, and some end the child flow.
    private static func childRules(_ name: String) -> [Flow.Transition] {
        let own: [(Int, [Flow.Action])] = [
            (4, [.push("d"), .finish(result: ["by": .string(name)])]), (5, [.abandon]),
            (6, [.pushFlow("nested"), .finish()]),
            (8, [.show("b", column: "detail")]), (10, [.popToRoot]), (15, [.replacePath(["a", "b"])]),
            (18, [.present("a", as: .sheet), .push("b")]), (24, [.dismissAll, .push("a")]),
            (25, [.pushFlow("nested")]), (28, [.presentFlow("wizard", as: .sheet)]),
        ]
        return own.map { step, actions in
            Flow.Transition(on: "event.Go", where: ["step": .value(.integer(step))], do: actions)
        } + [
            Flow.Transition(on: "flow.finished", where: ["flow": "nested"], do: [.finish()]),
            Flow.Transition(
                on: "command.Wait", guard: wait(name == "nested" ? .drop : .supersede),
                do: [.finish(result: ["by": "${answer.by}"])]),
        ]
    }

    private static func wait(_ meanwhile: Flow.Guard.Meanwhile) -> Flow.Guard {
        Flow.Guard(
            ask: meanwhile == .drop ? nil : "command.Ask",
            accept: Flow.Guard.Answer("event.Answered", where: ["ok": true]),
            reject: Flow.Guard.Answer("event.Answered", where: ["ok": false]),
            deadline: .seconds(5),
            meanwhile: meanwhile,
            rejected: meanwhile == .supersede ? [.present("c", as: .sheet)] : [],
            expired: [.popToRoot])
    }

    package static let links = [
        Flow.Link(
            "play:path/{id}?q={q}",
            to: .init(root: "a", path: [.screen("b", ["id": "${url.id}"]), .screen("c", ["q": "${url.q}"])]),
            park: .seconds(7200),
            over: [.fullScreen: .wait, .window: .refuse]),
        Flow.Link(
            "play:column/{id}?q={q}",
            to: .init(
                root: .init("b", container: .split),
                columns: [
                    "detail": .screen("c", ["id": "${url.id}"], path: [.screen("d", ["q": "${url.q}"])]), "side": "a",
                ]),
            park: .seconds(7200),
            over: [.sheet: .wait, .popover: .wait]),
        Flow.Link("play:tab/d", unless: [.top("d")], to: .init(root: .init("c", container: tabs), tab: "d")),
        Flow.Link(
            "play:tab/more",
            when: [.presented()],
            to: .init(root: .init("c", container: tabs), tab: "more", path: ["a"], present: .init("b", as: .popover))),
    ]

    private static let tabs = Flow.Layout.tabs(["d", .tab("more", "e")])

    private static let question = PresentationOptions(
        title: "Sure?", buttons: [AlertButton(id: "open", title: "Yes"), AlertButton(id: "cancel", title: "No")])
}
