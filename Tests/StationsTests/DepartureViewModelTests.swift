import Consuming
import Contracts
import Coordinator
import EventBus
import Logging
import Navigation
import Routing
import SegueTestSupport
import Stations
import TestSupport
import Testing

@Suite("View model that calls a router")
struct DepartureViewModelTests {
    let hub = InMemoryHub()
    let view: EventBus
    let router: Router<StationRoute>

    init() {
        view = EventBus.inMemory(source: "device/1", hub: hub)
        router = Router(bus: view, platform: "router", clock: ManualClock())
    }

    private func withDeparture(_ body: @escaping @Sendable (DepartureViewModel) async throws -> Void) async throws {
        let bus = EventBus.inMemory(source: "navigation-coordinator/1", hub: hub)
        let coordinator = Coordinator(
            flow: try .stationRouter(), bus: bus, logger: .silent, clock: ServiceClock(clock: ManualClock()))
        try await withRunning(coordinator) { [router] in
            try await router.push(.station(code: "YRK"))
            try await router.push(.departure(id: 7, stationCode: "YRK"))
            let departure = try #require(try await router.path?.entries.last)
            try await body(DepartureViewModel(router: router, instance: departure.instance))
        }
    }

    @Test("A screen that is closed twice closes once")
    func close() async throws {
        try await withDeparture { [router] departure in
            for _ in 0..<2 {
                let reason = try await departure.close()
                #expect(reason == nil)
            }
            #expect(try await router.path?.routes == [.station(code: "YRK")])
        }
    }

    @Test("A change to another station's departure shows it above that station")
    func change() async throws {
        try await withDeparture { [router] departure in
            let reason = try await departure.change(to: 8, at: "LDS")
            #expect(reason == nil)
            #expect(
                try await router.path?.routes
                    == [.station(code: "LDS"), .departure(id: 8, stationCode: "LDS")])
        }
    }

    @Test("A refused call is shown in words")
    func refused() async throws {
        try await withDeparture { [router, view] _ in
            try await router.popToRoot()
            let root = try #require(
                try await view.document(Document.NavigationState.self, key: "router")?.snapshot.state.root)
            let stray = DepartureViewModel(router: router, instance: root.instance.id)
            #expect(try await stray.close() == "there is nothing to pop on the path")
        }
    }
}
