package import Routing

/// The screen of one departure, in the style that calls methods.
package struct DepartureViewModel: Sendable {
    let router: Router<StationRoute>
    /// The screen that this is the view model of.
    let instance: String

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
