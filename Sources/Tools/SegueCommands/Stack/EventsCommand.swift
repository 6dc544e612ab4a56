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
            """)

    @OptionGroup var project: ProjectOptions

    @Flag(name: .shortAndLong, help: "Wait for new events, also after a restart of the project.")
    var follow = false

    @OptionGroup var period: LogPeriodOptions
    @OptionGroup var zone: ZoneOptions

    @Flag(help: "Print one JSON object per line: time, project, action, service, instance, pid and attributes.")
    var json = false

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
                try await Console.output.writeLine(text(event, project))
            }
        }
    }

    private func text(_ event: ProjectEvent, _ project: Project) throws -> String {
        json
            ? try JSONValue(encoding: EventObject(event, project: project.name)).description
            : "\(WallTime.text(of: event.time)) \(event.line(in: project))"
    }
}

/// One event of a project, as JSON.
struct EventObject: Encodable {
    let time: String
    let project: String
    let action: ProjectEvent.Action
    /// Nil for an event of the whole project; then `instance` is nil, too.
    let service: String?
    let instance: String?
    /// Nil if the event concerns no process.
    let pid: Int32?
    let attributes: [String: String]

    init(_ event: ProjectEvent, project: String) {
        time = Timestamp.text(of: event.time)
        self.project = project
        (action, service, instance, pid) = (event.action, event.service, event.instance, event.pid)
        attributes = event.attributes
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
