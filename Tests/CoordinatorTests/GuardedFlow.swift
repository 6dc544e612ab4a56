import Contracts
import EventBus
import Navigation

extension Command {
    struct NextRequested: CommandMessage {
        var name: String
    }

    struct SaveDraft: CommandMessage {
        var name: String
    }

    struct HomeRequested: CommandMessage {}
}

extension DomainEvent {
    struct DraftSaved: EventMessage {
        var draft: Int
    }
}

extension Flow {
    /// A form whose `next` waits until a service has saved the draft.
    static func guarded(asking: Bool = true) throws -> Flow {
        try Flow("form", version: 1, platform: "ios", start: "form") {
            for screen in ["form", "done", "sorry"] { Flow.Screen(screen) }
            if asking {
                Flow.Transition(
                    on: "command.NextRequested",
                    guard: Flow.Guard(
                        ask: Flow.Guard.Ask("command.SaveDraft", data: ["name": "${data.name}"]),
                        accept: "event.DraftSaved", deadline: .seconds(5), meanwhile: .queue,
                        expired: [.present("sorry", as: .sheet), .openURL("https://example.org/help")]),
                    do: [
                        .push(.screen("done", ["draft": "${answer.draft}"])),
                        .openURL("https://example.org/${data.name}"),
                    ])
            }
            Flow.Transition(on: "command.HomeRequested", do: [.popToRoot])
        }
    }
}
