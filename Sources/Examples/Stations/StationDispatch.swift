package import Navigation
package import Routing

extension Flow {
    /// The flow of `config/flows/examples/dispatch.yaml`.
    package static func stationDispatch() throws(FlowError) -> Flow {
        try Flow("station-dispatch", version: 1, platform: "dispatch", start: "search") {
            for (screen, title) in [
                ("search", "Plan a journey"), ("route", "Route"), ("station", "Station"), ("delay", "Delay"),
            ] {
                Flow.Screen(screen, title: title, sends: ["command.DataDispatched"], once: screen == "station")
            }
            Flow.Dispatch(RouteModel.self, StationModel.self, DelayModel.self)
        }
    }
}

extension DispatchedScreens {
    /// The view models of the flow.
    package static var stations: DispatchedScreens {
        DispatchedScreens(RouteModel.self, StationModel.self, DelayModel.self)
    }
}

/// The view model of the first screen, where a person enters two stations.
package struct RouteSearchViewModel: Sendable {
    package var fromStationCode = ""
    package var toStationCode = ""
    private let dispatching: any Dispatching

    package init(dispatching: any Dispatching) {
        self.dispatching = dispatching
    }

    package var canSearch: Bool {
        !fromStationCode.isEmpty && !toStationCode.isEmpty && fromStationCode != toStationCode
    }

    package func search() async throws {
        guard canSearch else { return }
        try await dispatching.dispatch(RouteModel(fromStationCode: fromStationCode, toStationCode: toStationCode))
    }
}

/// A route from one station to another.
package struct RouteModel: Dispatchable {
    package var fromStationCode: String
    package var toStationCode: String

    package init(fromStationCode: String, toStationCode: String) {
        self.fromStationCode = fromStationCode
        self.toStationCode = toStationCode
    }

    package static var change: DispatchChange {
        .modal(
            "route", inStack: true, identifiers: [CodingKeys.fromStationCode, .toStationCode],
            viewModel: RouteViewModel.self)
    }
}

/// The view model of a route's screen.
package struct RouteViewModel: DispatchedViewModel {
    package let route: RouteModel
    private let dispatching: any Dispatching

    package init(screen: ScreenInstance, dispatching: any Dispatching) throws {
        route = try screen.decodeArguments()
        self.dispatching = dispatching
    }

    package func showOrigin() async throws {
        try await dispatching.dispatch(StationModel(stationCode: route.fromStationCode))
    }

    package func showDestination() async throws {
        try await dispatching.dispatch(StationModel(stationCode: route.toStationCode))
    }
}

package struct StationModel: Dispatchable {
    package var stationCode: String

    package init(stationCode: String) {
        self.stationCode = stationCode
    }

    package static var change: DispatchChange {
        .pushed("station", identifiers: [CodingKeys.stationCode], viewModel: StationViewModel.self)
    }
}

/// The view model of a station's screen.
package struct StationViewModel: DispatchedViewModel {
    package let station: StationModel
    private let dispatching: any Dispatching

    package init(screen: ScreenInstance, dispatching: any Dispatching) throws {
        station = try screen.decodeArguments()
        self.dispatching = dispatching
    }

    package func showDelay(_ id: Int, announcement: String) async throws {
        try await dispatching.dispatch(
            DelayModel(delayID: id, stationCode: station.stationCode, announcement: announcement))
    }
}

/// A delay that is announced at a station.
package struct DelayModel: Dispatchable {
    package var delayID: Int
    package var stationCode: String
    /// The text of the delay. It is not an argument of the screen.
    package var announcement: String

    package init(delayID: Int, stationCode: String, announcement: String) {
        self.delayID = delayID
        self.stationCode = stationCode
        self.announcement = announcement
    }

    package static var change: DispatchChange {
        .modal(
            "delay", as: .popover, inStack: false, identifiers: [CodingKeys.delayID, .stationCode],
            viewModel: DelayViewModel.self)
    }
}

/// The view model of a delay's popover.
package struct DelayViewModel: DispatchedViewModel {
    struct Arguments: Codable {
        var delayID: Int
        var stationCode: String
    }

    package let delayID: Int
    private let stationCode: String
    private let dispatching: any Dispatching

    package init(screen: ScreenInstance, dispatching: any Dispatching) throws {
        let arguments = try screen.decodeArguments(Arguments.self)
        delayID = arguments.delayID
        stationCode = arguments.stationCode
        self.dispatching = dispatching
    }

    package func showStation() async throws {
        try await dispatching.dispatch(StationModel(stationCode: stationCode))
    }
}
