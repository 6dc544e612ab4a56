internal import Contracts
internal import EventBus
internal import FlowFiles
internal import Navigation

/// A small app for the measurements of coordinators: each tap selects the other one of two tabs.
struct TabApp {
    struct TabTapped: CommandMessage {}

    static let platform = "ios"
    static let yaml = """
        name: benchmark
        version: 1
        platform: \(platform)
        start: app
        screens:
          app:
            sends: [command.TabTapped]
          home:
          search:
        transitions:
          - on: event.LaunchFinished
            do:
              - setRoot: { screen: app, container: { tabs: [home, search] } }
          - on: command.TabTapped
            when: { tab: home }
            do: [selectTab: search]
          - on: command.TabTapped
            do: [selectTab: home]
        """
    private static let source = "benchmark/1"

    let flow: Flow

    init() throws {
        flow = try Flow(yaml: Self.yaml, file: "benchmark")
    }

    /// The message that launches a session. Its id depends only on the session.
    func launch(of session: String) throws -> Envelope {
        var launch = try Envelope(DomainEvent.LaunchFinished(), source: Self.source, subject: session)
        launch.attributes.id = "launch-\(session)"
        return launch
    }

    func tap(in session: String) throws -> Envelope {
        try Envelope(TabTapped(), source: Self.source, subject: session)
    }

    /// The machine of a session after its launch, when the start screen is gone.
    func launched(_ session: String) throws -> Machine {
        var machine = Machine(flow: flow, session: session)
        try handle(launch(of: session), with: &machine)
        for screen in machine.state.leaving {
            let gone = Command.ScreenGone(instance: screen.id)
            var report = try Envelope(gone, source: Self.source, subject: session)
            report.attributes.id = "gone-\(session)-\(screen.id)"
            try handle(report, with: &machine)
        }
        return machine
    }

    func handle(_ message: Envelope, with machine: inout Machine) throws {
        guard let input = Machine.Input(message) else {
            throw BenchmarkError("\(message.type) \(message.id) has data that no machine can read")
        }
        _ = machine.handle(input)
    }

    /// The document of a session after its launch.
    func document(of session: String) throws -> Envelope {
        try document(of: launched(session), causedBy: launch(of: session))
    }

    func document(of machine: Machine, causedBy message: Envelope) throws -> Envelope {
        try Envelope(Document.NavigationState(machine.snapshot), source: Self.source, causedBy: message)
    }
}
