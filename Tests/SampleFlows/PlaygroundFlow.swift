package import Navigation
import Support

/// A flow in which `event.Go` with a name performs the step of ``steps`` with that name. `command.Wait` waits for an
/// answer, also within child flows.
package enum PlaygroundFlow {
    package static func flow() throws -> Flow { try made.get() }

    /// The actions of each step. Some of them are possible only in certain states.
    package static let steps: KeyValuePairs<String, [Flow.Action]> = [
        "rootA": [.setRoot("a")],
        "split": [.setRoot("b", container: .split), .show("c", column: "detail")],
        "tabs": [.setRoot("c", container: tabs)],
        "tabsRemembered": [.setRoot("c", container: .tabs(["a", "d"], history: true))],
        "tabsThenPush": [.setRoot("a", container: .tabs(["a", "b"])), .push("c")],
        "pushA": [.push("a")],
        "pushB": [.push("b")],
        "pushCAndD": [.push("c"), .push("d")],
        "pushOnDetail": [.push("d", column: "detail"), .push("c", column: "detail")],
        "showDetail": [.show("e", column: "detail")],
        "showSide": [.show("a", column: "side")],
        "pop": [.pop],
        "popTwo": [.pop(2)],
        "popToA": [.popTo("a")],
        "popFromB": [.pop(.from("b"))],
        "goToA": [.goTo("a")],
        "goToD": [.goTo("d"), .push("b")],
        "back": [.back],
        "forgive": [.ifPossible(.dismiss("b")), .ifPossible(.pop)],
        "popDetail": [.pop(1, column: "detail")],
        "popToRoot": [.popToRoot],
        "replacePath": [.replacePath(["b", "c"])],
        "tabD": [.selectTab("d")],
        "tabMore": [.selectTab("more")],
        "sheet": [.present("a", as: .sheet)],
        "popover": [.present("b", as: .popover), .push("c")],
        "fullScreen": [.present("d", as: .fullScreen)],
        "alert": [.present("e", as: .alert, options: question)],
        "dialog": [.present("c", as: .dialog, options: question)],
        "lockedSheet": [
            .present("b", as: .sheet, options: PresentationOptions(interactiveDismissal: false)), .push("d"),
        ],
        "window": [.present("a", as: .window)],
        "wizard": [.pushFlow("wizard")],
        "nested": [.pushFlow("nested"), .push("c")],
        "wizardOnDetail": [.pushFlow("wizard", column: "detail")],
        "nestedSheet": [.presentFlow("nested", as: .sheet)],
        "wizardPopover": [.presentFlow("wizard", as: .popover), .push("a")],
        "dismiss": [.dismiss(nil)],
        "dismissA": [.dismiss("a")],
        "dismissAll": [.dismissAll],
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
            for (step, actions) in steps {
                Flow.Transition(on: "event.Go", where: ["step": .value(.string(step))], do: actions)
            }
        }
    }

    /// The rules of a child flow. Some of them replace steps, and some end the child flow.
    private static func childRules(_ name: String) -> [Flow.Transition] {
        let own: KeyValuePairs<String, [Flow.Action]> = [
            "pushA": [.push("d"), .finish(result: ["by": .string(name)])],
            "pushB": [.abandon],
            "pushCAndD": [.pushFlow("nested"), .finish()],
            "showDetail": [.show("b", column: "detail")],
            "pop": [.popToRoot],
            "replacePath": [.replacePath(["a", "b"])],
            "goToA": [.goTo("a"), .push("c")],
            "sheet": [.present("a", as: .sheet), .push("b")],
            "window": [.dismissAll, .push("a")],
            "wizard": [.pushFlow("nested")],
            "nestedSheet": [.presentFlow("wizard", as: .sheet)],
        ]
        return own.map { step, actions in
            Flow.Transition(on: "event.Go", where: ["step": .value(.string(step))], do: actions)
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
