import Navigation
import Routing
import Stations
import Support
import Testing

@Suite("Flow for dispatched data")
struct DispatchFlowTests {
    private let root = RootScreen(ScreenInstance(screen: "search", id: "search-1"))
    private let route = ScreenInstance(
        screen: "route", id: "route-2", arguments: ["fromStationCode": "YRK", "toStationCode": "LDS"])

    @Test("The file equals the flow in Swift")
    func sameFlow() throws {
        #expect(try FlowFile.flow("dispatch") == Flow.stationDispatch())
    }

    @Test("A route is presented, and a station is pushed on its stack and replaces a delay, which has no stack")
    func journey() throws {
        var journey = Journey(try .stationDispatch())
        #expect(try journey.dispatch(RouteModel(fromStationCode: "YRK", toStationCode: "LDS"), from: "search-1") == [])
        #expect(journey.state == NavigationState(root: root, presentations: [Presentation(.sheet, route)]))

        #expect(try journey.dispatch(StationModel(stationCode: "YRK"), from: "route-2") == [])
        let york = ScreenInstance(screen: "station", id: "station-3", arguments: ["stationCode": "YRK"])
        let sheet = Presentation(.sheet, route, path: [york])
        #expect(journey.state == NavigationState(root: root, presentations: [sheet]))

        // The announcement is content, and does not become an argument of the screen.
        let delay = DelayModel(delayID: 9, stationCode: "LDS", announcement: "Ten minutes late")
        #expect(try journey.dispatch(delay, from: "station-3") == [])
        let card = ScreenInstance(screen: "delay", id: "delay-4", arguments: ["delayID": 9, "stationCode": "LDS"])
        #expect(
            journey.state == NavigationState(root: root, presentations: [sheet, Presentation(.popover, card)]))

        let leeds = ScreenInstance(screen: "station", id: "station-5", arguments: ["stationCode": "LDS"])
        #expect(
            try journey.dispatch(StationModel(stationCode: "LDS"), from: "delay-4") == .dismissed(("delay-4", "delay")))
        let both = Presentation(.sheet, route, path: [york, leeds])
        #expect(journey.state == NavigationState(root: root, presentations: [both], leaving: [card]))
        #expect(journey.report("ScreenGone", "delay-4") == [])

        // The user swipes away the sheet with all screens of its stack.
        #expect(
            journey.report("PresentationDismissed", "route-2") == [
                .screenDismissed(instance: "station-5", screen: "station"),
                .screenDismissed(instance: "station-3", screen: "station"),
                .screenDismissed(instance: "route-2", screen: "route"),
            ])
        #expect(journey.state == NavigationState(root: root))
        #expect(
            try journey.dispatch(StationModel(stationCode: "YRK"), from: "route-2") == [
                .messageDiscarded(
                    messageID: "m7",
                    reason: "command.DataDispatched: screen instance 'route-2' was dismissed or never existed")
            ])
        #expect(journey.state == NavigationState(root: root))
        #expect(journey.machine.revision == 6)
    }

    @Test("Data without identifying fields is an error, and data without a rule or of another platform changes nothing")
    func refused() throws {
        var journey = Journey(try .stationDispatch())
        let before = journey.machine
        let effects = journey.send("DataDispatched", ["name": "RouteModel", "data": ["fromStationCode": "YRK"]])
        guard case .failed(let failure)? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(effects.count == 1)
        #expect(failure.message == "the template refers to 'data.data.toStationCode', which has no value")
        #expect(journey.send("DataDispatched", ["name": "TramModel", "data": [:]]) == [])
        let route: JSONValue = ["name": "RouteModel", "data": ["fromStationCode": "A", "toStationCode": "B"]]
        #expect(journey.send("DataDispatched", route, platform: "router") == [])
        #expect(journey.machine == before)
    }
}

extension Journey {
    fileprivate mutating func dispatch<Data: Dispatchable>(
        _ data: Data, from instance: String
    ) throws -> [Machine.Effect] {
        send(
            "DataDispatched", ["name": .string(Data.dispatchName), "data": try JSONValue(encoding: data)],
            from: instance)
    }
}
