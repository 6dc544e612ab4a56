package import Navigation
package import Routing

/// The card of a delay.
package struct DelayViewModel: DispatchedViewModel {
    struct Arguments: Codable {
        var delayID: Int
        var stationCode: String
    }

    package let delayID: Int
    let stationCode: String
    let dispatching: any Dispatching

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
