package import Navigation
package import Routing

/// The screen of a station.
package struct StationViewModel: DispatchedViewModel {
    package let station: StationModel
    let dispatching: any Dispatching

    package init(screen: ScreenInstance, dispatching: any Dispatching) throws {
        station = try screen.decodeArguments()
        self.dispatching = dispatching
    }

    package func showDelay(_ id: Int, announcement: String) async throws {
        try await dispatching.dispatch(
            DelayModel(delayID: id, stationCode: station.stationCode, announcement: announcement))
    }
}
