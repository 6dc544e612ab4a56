package import ArgumentParser
internal import Contracts
internal import EventBus
internal import Foundation
internal import Support

package struct TimersCommand: AsyncParsableCommand, WallTimeCommand {
    package static let configuration = CommandConfiguration(
        commandName: "timers", abstract: "List the commands that services will send later, the next one first.",
        discussion: """
            segue timers
            segue timers --subject anna --json | jq .at
            """)

    @OptionGroup var options: BusOptions

    @Option(help: "List only the commands of this session.")
    var subject: String?

    @OptionGroup var zone: ZoneOptions

    @Flag(help: "Print one JSON object per line, with the command's data.")
    var json = false

    package init() {}

    package func run() async throws {
        let subject = subject
        let documents = try await options.withBus { bus in
            try await bus.documents(matching: [.type(Document.ScheduledCommand.type, subject: subject)])
        }
        var timers: [Timer] = []
        for document in documents {
            do {
                timers.append(Timer(session: document.subject, document: try document.decode()))
            } catch {
                await Console.error.tell("\(error) (published by \(document.attributes.source))")
            }
        }
        timers.sort { ($0.document.at, $0.session) < ($1.document.at, $1.session) }
        guard !json else {
            return try await Console.output.writeLines(timers.map { try JSONValue(encoding: $0).description })
        }
        if timers.isEmpty { return await Console.error.tell("no command is to be sent later") }
        var table = Table("TIME", "SESSION", "COMMAND", "SERVICE", "ID")
        for timer in timers {
            table.append(
                WallTime.text(of: timer.document.at), timer.session, "\(timer.document.command.type)",
                timer.document.consumer, timer.document.id)
        }
        try await Console.output.writeLines(table.lines)
    }

    /// A scheduled command with its session.
    private struct Timer: Encodable {
        let session: String
        let document: Document.ScheduledCommand

        private enum CodingKeys: CodingKey {
            case session, at, command, consumer, id
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(session, forKey: .session)
            try container.encode(Timestamp.text(of: document.at), forKey: .at)
            try container.encode(document.command, forKey: .command)
            try container.encode(document.consumer, forKey: .consumer)
            try container.encode(document.id, forKey: .id)
        }
    }
}
