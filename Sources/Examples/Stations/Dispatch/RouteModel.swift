package import Routing

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
