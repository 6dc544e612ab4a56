internal import Navigation
package import Routing

/// A delay that is announced at a station.
package struct DelayModel: Dispatchable {
    package var delayID: Int
    package var stationCode: String
    /// Content: no argument of the screen, which reads what is true when it is shown.
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
