import Consuming
import Contracts
import Coordinator
import EventBus
import Foundation
import Logging
import Navigation
import Routing
import SegueTestSupport
import Stations
import TestSupport
import Testing

@Suite("Samples of docs/flows.md about routers and dispatched data")
struct RoutingPageTests {
    @Test("A router is called as the page shows")
    func router() async throws {
        let hub = InMemoryHub()
        let bus: EventBus = EventBus.inMemory(source: "device/1", hub: hub)
        let coordinator = Coordinator(
            flow: try .stationRouter(), bus: EventBus.inMemory(source: "navigation-coordinator/1", hub: hub),
            logger: .silent, clock: ServiceClock(clock: ManualClock()))
        try await withRunning(coordinator) {
            let router = Router(StationRoute.self, bus: bus, platform: "router")
            try await router.push(.station(code: "YRK"))
            let revision = try await router.push(.departure(id: 7, stationCode: "YRK"))
            try await router.pop()
            try await router.replacePath([.station(code: "LDS"), .settings])
            let routes = try await router.path?.routes
            #expect(revision == 2)
            #expect(routes == [.station(code: "LDS"), .settings])

            let instance = try #require(try await router.path?.entries.last?.instance)
            try await router.pop(from: instance)
            try await router.popToRoot()
            try await router.withPaths { paths in
                for try await path in paths where path.routes.isEmpty { break }
            }
        }
    }
}
