import Contracts
import EventBus
import Foundation
import Navigation
import Routing
import SegueTestSupport
import Stations
import Support
import TestSupport
import Testing

@Suite("Routers, dispatchers and killed processes")
struct RoutingProcessTests {
    private static let services = [.broker, coordinator("router"), coordinator("dispatch")]

    private static func coordinator(_ example: String) -> TestService {
        let flow = Repository.path("config/flows/examples/\(example).yaml")
        return TestService(
            "\(example)-coordinator", command: ["navigation-coordinator", "--flow", flow], after: ["broker"])
    }

    @Test(
        "The examples' flows lead their apps, also when a coordinator is killed during a call",
        .timeLimit(.minutes(3)))
    func examples() async throws {
        try await TestStack.with(Self.services) { stack in
            let router = Router(StationRoute.self, bus: stack.bus, platform: "router", deadline: .seconds(60))
            #expect(try await router.push(.station(code: "YRK")) == 1)
            #expect(try await router.push(.departure(id: 7, stationCode: "YRK")) == 2)
            let departure = try #require(try await router.path?.entries.last?.instance)
            async let first = router.pop()
            async let second = router.pop()
            #expect(try await Set([first, second]) == [3, 4])
            await #expect(throws: RouterError.refused("there is nothing to pop on the path")) {
                try await router.pop()
            }
            await #expect(throws: RouterError.late("screen instance '\(departure)' was dismissed or never existed")) {
                try await router.push(.settings, from: departure)
            }

            // The call is made while the coordinator is frozen. The restarted coordinator answers it.
            try await stack.freeze("router-coordinator")
            async let call = router.replacePath([.settings])
            try await stack.message(Command.NavigationRequested.self) { $0.action["replacePath"] != nil }
            try await stack.killAndRestart("router-coordinator")
            _ = try await call
            #expect(try await router.path?.routes == [.settings])

            try await BusDispatcher(bus: stack.bus, origin: Origin(platform: "dispatch"))
                .dispatch(RouteModel(fromStationCode: "YRK", toStationCode: "LDS"))
            let state = try await stack.screen("route", on: "dispatch").state
            #expect(state.top.arguments == ["fromStationCode": "YRK", "toStationCode": "LDS"])
            #expect(state.presentations.map(\.style) == [.sheet])
        }
    }
}
