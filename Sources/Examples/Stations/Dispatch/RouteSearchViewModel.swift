package import Routing

/// The first screen: a person names two stations.
package struct RouteSearchViewModel: Sendable {
    package var fromStationCode = ""
    package var toStationCode = ""
    let dispatching: any Dispatching

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
