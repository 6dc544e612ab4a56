package import Navigation
package import Routing

extension Flow {
    /// What `config/flows/examples/dispatch.yaml` says.
    package static func stationDispatch() throws(FlowError) -> Flow {
        try Flow("station-dispatch", version: 1, platform: "dispatch", start: "search") {
            for (screen, title) in [
                ("search", "Plan a journey"), ("route", "Route"), ("station", "Station"), ("delay", "Delay"),
            ] {
                Flow.Screen(screen, title: title, sends: ["command.DataDispatched"])
            }
            Flow.Dispatch(RouteModel.self, StationModel.self, DelayModel.self)
        }
    }
}

extension DispatchedScreens {
    /// The view models of that flow.
    package static var stations: DispatchedScreens {
        DispatchedScreens(RouteModel.self, StationModel.self, DelayModel.self)
    }
}
