import Consuming
import Contracts
import Coordinator
import EventBus
import Foundation
import Logging
import Navigation
import SegueTestSupport
import Support
import TestSupport

/// A bus with a view, and the coordinators that a test starts.
struct CoordinatorFixture: Sendable {
    let hub = InMemoryHub(maximumGap: 1000)
    let view: EventBus
    let clock = ManualClock()
    let phone = Origin(platform: "ios", device: "phone-1")

    init() {
        view = EventBus.inMemory(source: "device/1", hub: hub)
    }

    /// - Parameter later: the number of seconds by which the coordinator's clock is ahead of the messages' times.
    func coordinator(_ flow: Flow, later: TimeInterval = 0) -> Coordinator {
        Coordinator(
            flow: flow, bus: EventBus.inMemory(source: "navigation-coordinator/1", hub: hub), logger: .silent,
            clock: ServiceClock(now: { Date() + later }, clock: clock))
    }

    /// Runs the shop on ios with the list in front. The timer of the launch screen is still running.
    @discardableResult
    func withShop<Result: Sendable>(
        later: TimeInterval = 0, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withRunning(coordinator(.shop(), later: later)) {
            try await view.publish(DomainEvent.LaunchFinished())
            let launch = try await snapshot { $0.state.root.instance.screen == "list" }.state.leaving[0].id
            // A report states something that has happened, so it does not expire.
            try await view.send(Command.ScreenGone(instance: launch), origin: phone, lifetime: nil)
            try await snapshot { $0.state.leaving.isEmpty }
            return try await body()
        }
    }

    /// Waits until a platform's snapshot satisfies a condition.
    @discardableResult
    func snapshot(
        platform: String = "ios", session: String = Session.default,
        where condition: (NavigationSnapshot) -> Bool
    ) async throws -> NavigationSnapshot {
        let filter = MessageFilter.type(Document.NavigationState.self, subject: session)
        return try await view.withSubscription(to: [filter], from: .retained) { messages in
            for try await message in messages where message.attributes.key == platform {
                let snapshot = try message.decode(Document.NavigationState.self).snapshot
                if condition(snapshot) { return snapshot }
            }
            throw CancellationError()
        }
    }

    /// The current snapshot. Nil if there is none.
    func currentSnapshot() async throws -> NavigationSnapshot? {
        try await view.document(Document.NavigationState.self, key: "ios")?.snapshot
    }
}

/// A bus that refuses every batch with a message for which `refuses` returns true.
struct RefusingBus: ForwardingEngine {
    let inner: EventBus
    let refuses: @Sendable (Envelope) -> Bool

    func publish(_ batch: Batch) async throws -> Position {
        if batch.messages.contains(where: refuses) { throw BusError(.refused, "it is too large") }
        return try await inner.publish(batch)
    }
}

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
    /// The flow of a small shop.
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
