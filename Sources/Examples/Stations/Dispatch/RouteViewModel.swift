package import Navigation
package import Routing

/// The screen of a route.
package struct RouteViewModel: DispatchedViewModel {
    package let route: RouteModel
    let dispatching: any Dispatching

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
