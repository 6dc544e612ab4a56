import EventBus
import Navigation
import Routing
import Support
import TestSupport
import Testing

@Suite("Routes")
struct RouteShapeTests {
    /// An enum with every form of a case.
    private enum Route: Hashable, Codable, Sendable {
        case plain
        case labelled(id: Int, name: String)
        case unlabelled(Int)
        case optional(id: Int?)
        case nested(place: Place)
        case renamed(id: Int)

        struct Place: Hashable, Codable, Sendable { var row: Int, seats: [Int] }

        enum CodingKeys: String, CodingKey {
            case plain, labelled, unlabelled, optional, nested
            case renamed = "another"
        }
    }

    @Test("A case of an enum is a screen with its values as arguments, and is read back from these")
    func shapes() async throws {
        let fixture = RoutingFixture()
        let flow = try Flow("shapes", version: 1, platform: "ios", start: "home", requests: [.replacePath]) {
            for screen in ["home", "plain", "labelled", "unlabelled", "optional", "nested", "another"] {
                Flow.Screen(screen)
            }
        }
        let routes: [Route] = [
            .plain, .labelled(id: 1, name: "${data.x}"), .unlabelled(2), .optional(id: 3), .optional(id: nil),
            .nested(place: .init(row: 4, seats: [5, 6])), .renamed(id: 7),
        ]
        try await withRunning(fixture.coordinator(flow)) {
            let router = Router(Route.self, bus: fixture.view, platform: "ios", clock: fixture.clock)
            try await router.replacePath(routes)
            #expect(try await router.path?.routes == routes)
            let path = try #require(try await fixture.snapshot()).state.path
            #expect(
                path.map(\.screen)
                    == ["plain", "labelled", "unlabelled", "optional", "optional", "nested", "another"])
            #expect(
                path.map(\.arguments) == [
                    [:], ["id": 1, "name": "${data.x}"], ["_0": 2], ["id": 3], [:],
                    ["place": ["row": 4, "seats": [5, 6]]], ["id": 7],
                ])
        }
    }
}
