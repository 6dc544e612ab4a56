package import Navigation
package import Routing

extension Flow {
    /// What `config/flows/examples/router.yaml` says.
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

/// Where the app can go: the cases are the screens of `config/flows/examples/router.yaml`.
package enum StationRoute: Hashable, Codable, Sendable {
    case station(code: String)
    case departure(id: Int, stationCode: String)
    case settings
}

/// The screen of one departure, in the style that calls methods.
package struct DepartureViewModel: Sendable {
    private let router: Router<StationRoute>
    /// The screen that this is the view model of.
    private let instance: String

    package init(router: Router<StationRoute>, instance: String) {
        self.router = router
        self.instance = instance
    }

    /// - Returns: why the screen stays, in words for a person; nil once it is left.
    package func close() async throws -> String? {
        try await explained { try await router.pop(from: instance) }
    }

    /// Shows a departure of another station; *back* then leads to that station.
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
            // The second tap on a button: what it wanted is done.
            return nil
        } catch let error as RouterError {
            return error.description
        }
    }
}
