package import ArgumentParser
internal import Compose
internal import EventBus
internal import Monitor
internal import Navigation
internal import Support

package struct EventsCommand: AsyncParsableCommand, WallTimeCommand {
    package static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Print the starts, ends and restarts of a project's services.",
        discussion: """
            segue events                     all events that are kept
            segue events -f web              events of one service, then new events
            segue events --since 10m --json  the last ten minutes, for a program

            With --json, an event has time, project, action, service, instance, pid and attributes.

            The exit status is 1 if the project was never started.
            """)

    @OptionGroup var project: ProjectOptions

    @Flag(name: .shortAndLong, help: "Wait for new events, also after a restart of the project.")
    var follow = false

    @OptionGroup var period: LogPeriodOptions
    @OptionGroup var zone: ZoneOptions

    @OptionGroup var output: OutputOptions

    @Argument(help: "The services whose events are printed. (default: all)", completion: .services)
    var services: [String] = []

    package init() {}

    package func validate() throws {
        try period.validate(follow: follow)
    }

    package func run() async throws {
        let project = try project.resolve()
        let events = try project.events(of: services, in: period.period, follow: follow)
        try await Console.output.whileRead {
            for await event in events {
                try await Console.output.writeLine(
                    EventRow(event: event, project: project.name), asJSON: output.json,
                    text: "\(WallTime.text(of: event.time)) \(event.line(in: project))")
            }
        }
    }
}

/// An event with its project. Its JSON has the keys of the event, `time` and `project`.
private struct EventRow: Encodable {
    let event: ProjectEvent
    let project: String

    private enum CodingKeys: CodingKey {
        case time, project
    }

    func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(event.time, forKey: .time)
        try container.encode(project, forKey: .project)
    }
}

extension ProjectEvent {
    func line(in project: Project) -> String {
        "\(instance ?? "project '\(project.name)'") \(summary)".printable
    }

    /// The predicate of a sentence about the event; the subject is the service instance or the project.
    var summary: String {
        switch action {
        case .supervisorStarted: "is supervised from now on" + process
        case .up: "is up"
        case .supervisorEnded: "is down"
        case .created: "was created"
        case .starting: "is starting" + process
        case .ready: "is ready" + (attributes["after"].map { " after \($0) s" } ?? "")
        case .healthy: "is healthy"
        case .unhealthy: "is unhealthy" + reason
        case .stopping: "is stopping" + (attributes["reason"].map { ": it \($0)" } ?? "")
        case .exited: ending + (attributes["reason"].map { ": it \($0)" } ?? "")
        case .restarting: "is started again" + (attributes["pause"].map { " in \($0) s" } ?? "")
        case .stopped: "has stopped"
        case .failed: "failed" + reason
        case .removed: "was removed"
        }
    }

    private var process: String { pid.map { " (pid \($0))" } ?? "" }
    private var reason: String { attributes["reason"].map { ": \($0)" } ?? "" }

    private var ending: String {
        if let signal = attributes["signal"] { return "was ended by \(signal)" }
        return "exited" + (attributes["exitCode"].map { " with status \($0)" } ?? "")
    }
}
