import Consuming
import Contracts
import Coordinator
import EventBus
import Foundation
import Logging
import Navigation
import Routing
import SegueTestSupport
import TestSupport

/// A bus with the coordinator of a shop's app.
struct RoutingFixture: Sendable {
    let hub = InMemoryHub(maximumGap: 1000)
    let view: EventBus
    let phone = Origin(platform: "ios", device: "phone-1")
    /// The clock of the routers. It stands still, so that no call reaches its deadline.
    let clock = ManualClock()

    init() {
        view = EventBus.inMemory(source: "device/1", hub: hub)
    }

    func coordinator(_ flow: Flow, later: TimeInterval = 0) -> Coordinator {
        Coordinator(
            flow: flow, bus: EventBus.inMemory(source: "navigation-coordinator/1", hub: hub), logger: .silent,
            clock: ServiceClock(now: { Date() + later }, clock: ManualClock()))
    }

    func router(
        _ platform: String = "ios", session: String = Session.default
    ) -> Router<ShopRoute> {
        Router(bus: view, platform: platform, device: "phone-1", session: session, clock: clock)
    }

    func snapshot(session: String = Session.default) async throws -> NavigationSnapshot? {
        try await view.document(Document.NavigationState.self, subject: session, key: "ios")?.snapshot
    }

    /// Waits until the snapshot satisfies a condition.
    func snapshot(where condition: (NavigationSnapshot) -> Bool) async throws -> NavigationSnapshot {
        let filter = MessageFilter.type(Document.NavigationState.self)
        return try await view.withSubscription(to: [filter], from: .retained) { messages in
            for try await message in messages where message.attributes.key == "ios" {
                let snapshot = try message.decode(Document.NavigationState.self).snapshot
                if condition(snapshot) { return snapshot }
            }
            throw CancellationError()
        }
    }

    /// The identifiers of the instances on the path.
    func instances() async throws -> [String] {
        try await snapshot()?.state.path.map(\.id) ?? []
    }

    /// The error of a call; nil if it succeeds.
    func refusal(of call: @Sendable () async throws -> Int) async throws -> RouterError? {
        do {
            _ = try await call()
            return nil
        } catch let error as RouterError {
            return error
        }
    }

    /// The messages that were discarded so far.
    func discards() async throws -> [DomainEvent.MessageDiscarded] {
        try await view.journalled(DomainEvent.MessageDiscarded.self).map { try $0.decode() }
    }
}

enum ShopRoute: Hashable, Codable, Sendable {
    case list
    case item(id: Int, tab: String? = nil)
}

extension Flow {
    /// A flow with screens that routers push and pop, and with a screen that a rule pushes.
    static func shop(
        _ platform: String = "ios", requests: [ActionName] = [.push, .pop, .popToRoot, .replacePath]
    ) throws -> Flow {
        try Flow("shop", version: 1, platform: platform, start: "home", requests: requests) {
            for screen in ["home", "list", "item", "notice"] { Flow.Screen(screen) }
            Flow.Transition(on: "event.LaunchFinished", do: [.push("notice")])
        }
    }
}
