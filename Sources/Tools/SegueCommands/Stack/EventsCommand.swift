package import ArgumentParser
internal import Compose
internal import EventBus

package struct EventsCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Tells what has happened to the services of a project.",
        discussion: "Starts, ends, restarts and their reasons, as far back as they are kept.")

    @OptionGroup var project: ProjectOptions

    @Flag(name: .shortAndLong, help: "Wait for more, through restarts of the project.")
    var follow = false

    @OptionGroup var period: PeriodOptions

    @Flag(help: "One JSON object a line: time, project, action, service, instance, pid and attributes.")
    var json = false

    @Argument(help: "Only these services.")
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
            ? try JSONLine.text(EventObject(event, project: project.name))
            : "\(Timestamp.text(of: event.time)) \(event.line(in: project))"
    }
}
