package import Navigation
package import Routing

extension Flow {
    /// The flow of `config/flows/examples/router.yaml`.
    package static func stationRouter() throws(FlowError) -> Flow {
        try Flow(
            "station-router", version: 1, platform: "router", start: "stations",
            requests: [.push, .pop, .popToRoot, .replacePath]
        ) {
            for (screen, title) in [
                ("stations", "Stations"), ("station", "Departures"), ("departure", "Calling at"),
                ("settings", "Settings"),
            ] {
                Flow.Screen(screen, title: title, sends: ["command.NavigationRequested"])
            }
        }
    }
}

/// The routes of the app. The cases are screens of `config/flows/examples/router.yaml`.
package enum StationRoute: Hashable, Codable, Sendable {
    case station(code: String)
    case departure(id: Int, stationCode: String)
    case settings
}

/// The view model of a departure's screen. It navigates by calling methods of a router.
package struct DepartureViewModel: Sendable {
    private let router: Router<StationRoute>
    /// The id of the screen instance of this view model.
    private let instance: String

    package init(router: Router<StationRoute>, instance: String) {
        self.router = router
        self.instance = instance
    }

    /// Leaves the screen.
    /// - Returns: The reason why the screen stays, for a person. Nil if the screen was left, now or before.
    package func close() async throws -> String? {
        try await explained { try await router.pop(from: instance) }
    }

    /// Shows a departure of another station. *Back* then leads to that station.
    /// - Returns: The reason why the screen stays, for a person. Nil if the departure is shown, or if this screen was
    ///   left before the call.
    package func change(to departure: Int, at stationCode: String) async throws -> String? {
        try await explained {
            try await router.replacePath(
                [.station(code: stationCode), .departure(id: departure, stationCode: stationCode)], from: instance)
        }
    }

    private func explained(_ call: () async throws -> Int) async throws -> String? {
        do {
            _ = try await call()
            return nil
        } catch RouterError.late {
            // For example, this was the second tap on a button, and the first tap has already had its effect.
            return nil
        } catch let error as RouterError {
            return error.description
        }
    }
}
