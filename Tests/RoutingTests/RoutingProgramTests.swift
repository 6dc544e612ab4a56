import EventBus
import Routing
import TestSupport
import Testing

/// A case is a screen of the flow, and its values are the screen's arguments.
enum TeaRoute: Hashable, Codable, Sendable {
    case list
    case item(id: Int)
}

/// Opens an item above the list. The flow must allow `replacePath`.
func openItem(_ id: Int, on bus: EventBus) async throws -> [TeaRoute] {
    let router = Router(TeaRoute.self, bus: bus, platform: "ios")
    try await router.replacePath([.list, .item(id: id)])
    return try await router.path?.routes ?? []
}

@Suite("Program of the page of Routing")
struct RoutingProgramTests {
    @Test("The item is above the list")
    func item() async throws {
        let fixture = RoutingFixture()
        try await withRunning(fixture.coordinator(.shop())) {
            let routes = try await openItem(7, on: fixture.view)
            #expect(routes == [.list, .item(id: 7)])
        }
    }
}
