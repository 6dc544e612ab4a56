import Contracts
import EventBus
import Navigation

extension Command {
    struct ItemSelected: CommandMessage {
        var itemID: String
    }

    struct OptionsOpened: CommandMessage {}

    struct LinkOpened: CommandMessage {
        var url: String
    }

    struct BackRequested: CommandMessage {}

    struct ItemNeeded: CommandMessage {
        var itemID: String
    }
}

extension DomainEvent {
    struct Warned: EventMessage {}
}

extension Flow {
    /// A small app with all that a coordinator has to do something for.
    static func shop(_ platform: String = "ios", items: Bool = true, links: Bool = false) throws -> Flow {
        try Flow("shop", version: 1, platform: platform, start: "launch") {
            Flow.Screen("launch")
            Flow.Screen("list", sends: ["command.ItemSelected"])
            Flow.Screen(items ? "item" : "article")
            Flow.Screen("options")
            Flow.Screen("warning")
            if links {
                Flow.Link(
                    "shop://item/{id}", when: [.root("list")],
                    to: .init(root: "list", path: [.screen("item", ["itemID": "${url.id}"])]),
                    send: [.init("command.ItemNeeded", ["itemID": "${url.id}"])])
            }
            Flow.Transition(on: "event.LaunchFinished", when: [.root("launch")], do: [.setRoot("list")])
            Flow.Transition(
                on: "command.ItemSelected",
                do: [.push(.screen(items ? "item" : "article", ["itemID": "${data.itemID}"]))])
            Flow.Transition(on: "command.OptionsOpened", do: [.present("options", as: .sheet)])
            Flow.Transition(on: "command.LinkOpened", origin: .own, do: [.openURL("${data.url}")])
            Flow.Transition(on: "command.BackRequested", do: [.pop])
            Flow.Transition(on: "error.ApplicationError", do: [.pop])
            Flow.Transition(
                on: "event.Warned",
                do: [
                    .present(
                        "warning", as: .alert,
                        options: PresentationOptions(
                            title: "Careful",
                            buttons: [AlertButton(id: "ok", title: "OK", sends: "command.OptionsOpened")]))
                ])
        }
    }
}
