import Navigation
import Routing
import Stations
import Support
import Testing

@Suite("View models that dispatch data")
struct DispatchViewModelTests {
    let dispatcher = RecordingDispatcher()

    @Test("A search presents the route between two stations when both are named")
    func search() async throws {
        var search = RouteSearchViewModel(dispatching: dispatcher)
        search.fromStationCode = "YRK"
        try await search.search()
        search.toStationCode = "YRK"
        try await search.search()
        #expect(dispatcher.dispatched.isEmpty)

        search.toStationCode = "LDS"
        try await search.search()
        #expect(dispatcher.dispatched(RouteModel.self) == [RouteModel(fromStationCode: "YRK", toStationCode: "LDS")])
        #expect(dispatcher.dispatched.count == 1)
    }

    @Test("The screen of a route takes its stations from its arguments, and can show either")
    func route() async throws {
        let screen = ScreenInstance(
            screen: "route", id: "route-2", arguments: ["fromStationCode": "YRK", "toStationCode": "LDS"])
        let made = try DispatchedScreens.stations.viewModel(for: screen, dispatching: dispatcher)
        let route = try #require(made as? RouteViewModel)
        #expect(route.route == RouteModel(fromStationCode: "YRK", toStationCode: "LDS"))
        try await route.showDestination()
        try await route.showOrigin()
        #expect(
            dispatcher.dispatched(StationModel.self) == [
                StationModel(stationCode: "LDS"), StationModel(stationCode: "YRK"),
            ])
        #expect(dispatcher.dispatched(RouteModel.self).isEmpty)
    }

    @Test("A station can show a delay, and the delay its station")
    func delay() async throws {
        let screens = DispatchedScreens.stations
        let station = ScreenInstance(screen: "station", id: "station-3", arguments: ["stationCode": "LDS"])
        let stationModel = try #require(
            try screens.viewModel(for: station, dispatching: dispatcher) as? StationViewModel)
        try await stationModel.showDelay(9, announcement: "Ten minutes late")
        let expected = DelayModel(delayID: 9, stationCode: "LDS", announcement: "Ten minutes late")
        #expect(dispatcher.dispatched(DelayModel.self) == [expected])

        let card = ScreenInstance(screen: "delay", id: "delay-4", arguments: ["delayID": 9, "stationCode": "LDS"])
        let delayModel = try #require(try screens.viewModel(for: card, dispatching: dispatcher) as? DelayViewModel)
        #expect(delayModel.delayID == 9)
        try await delayModel.showStation()
        #expect(dispatcher.dispatched(StationModel.self) == [StationModel(stationCode: "LDS")])
    }

    @Test("A screen without dispatched data has no view model, and one without its arguments is an error")
    func others() throws {
        let screens = DispatchedScreens.stations
        let search = ScreenInstance(screen: "search", id: "search-1")
        let model = try screens.viewModel(for: search, dispatching: dispatcher)
        #expect(model == nil)
        let route = ScreenInstance(screen: "route", id: "route-2", arguments: ["fromStationCode": "YRK"])
        #expect(throws: DecodingError.self) { try screens.viewModel(for: route, dispatching: dispatcher) }
    }
}
