package import Navigation
import Support

/// A flow of a shop with deep links.
package enum LinkFlow {
    package static func flow(
        over: [PresentationStyle: Flow.Precedence] = [:],
        park: Duration = Flow.Link.usualPark,
        platform: String = "ios",
        hasItems: Bool = true
    ) throws -> Flow {
        try Flow("shop", version: 1, platform: platform, start: "launch") {
            Flow.Screen("launch")
            Flow.Screen("list", sends: ["command.ItemSelected"])
            if hasItems { Flow.Screen("item", sends: ["command.ReviewSelected"]) }
            Flow.Screen("review")
            Flow.Screen("settings")
            Flow.Screen("terms", gate: true)
            Flow.Transition(on: "event.LaunchFinished", do: [.setRoot("list")])
            if hasItems {
                Flow.Transition(
                    on: "command.ItemSelected",
                    do: [.push(.screen("item", ["itemID": "${data.itemID}"]))]
                )
                Flow.Transition(
                    on: "command.ReviewSelected",
                    do: [.push(.screen("review", ["itemID": "${arguments.itemID}", "number": "${data.number}"]))]
                )
                item(over: over, park: park)
                review
            }
            Flow.Transition(on: "event.SheetNeeded", do: [.present("settings", as: .sheet)])
            Flow.Transition(on: "event.PopoverNeeded", do: [.present("settings", as: .popover)])
            Flow.Transition(on: "event.TermsChanged", do: [.present("terms", as: .fullScreen)])
            Flow.Transition(on: "event.TermsAccepted", do: [.dismiss("terms")])
            Flow.Transition(on: "event.Asked", do: [.present("settings", as: .alert, options: question)])
            Flow.Transition(on: "event.Locked", do: [.setRoot("launch")])
            Flow.Link(
                "shop://settings",
                when: [.root("list")],
                to: .init(root: "list", present: .init("settings", as: .sheet))
            )
            Flow.Link("shop://list", when: [.root("list")], to: .init(root: "list"))
        }
    }

    private static let question = PresentationOptions(title: "Sure?", buttons: [AlertButton(id: "ok", title: "OK")])

    private static let item = Flow.Destination.screen("item", ["itemID": "${url.id}", "colour": "${url.colour}"])

    private static func item(over: [PresentationStyle: Flow.Precedence], park: Duration) -> Flow.Link {
        Flow.Link(
            "shop://item/{id}?colour={colour}",
            when: [.root("list")],
            to: .init(root: "list", path: [item]),
            send: [.init("command.LoadItem", ["itemID": "${url.id}", "quiet": true])],
            park: park,
            over: over
        )
    }

    private static let review = Flow.Link(
        "shop://item/{id}/review/{number}",
        when: [.root("list")],
        to: .init(
            root: "list",
            path: [
                .screen("item", ["itemID": "${url.id}"]),
                .screen("review", ["itemID": "${url.id}", "number": "${url.number}"]),
            ]
        )
    )
}

extension Session {
    /// A session of the shop with the list in front.
    package static func shop(
        over: [PresentationStyle: Flow.Precedence] = [:],
        park: Duration = Flow.Link.usualPark
    ) throws -> Session {
        var session = Session(try LinkFlow.flow(over: over, park: park))
        session.send("event.LaunchFinished")
        session.report("ScreenGone", "launch-1")
        return session
    }
}
