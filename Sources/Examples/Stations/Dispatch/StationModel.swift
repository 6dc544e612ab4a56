package import Routing

/// A station.
package struct StationModel: Dispatchable {
    package var stationCode: String

    package init(stationCode: String) {
        self.stationCode = stationCode
    }

    package static var change: DispatchChange {
        .pushed("station", identifiers: [CodingKeys.stationCode], viewModel: StationViewModel.self)
    }
}
