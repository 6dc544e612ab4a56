package import Navigation

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
