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
            segue timers --session anna --json | jq .at
            """)

    @OptionGroup var options: BusOptions

    @Option(name: .session, help: "List only the commands of this session.")
    var session: String?

    @OptionGroup var zone: ZoneOptions

    @OptionGroup var output: OutputOptions

    package init() {}

    package func run() async throws {
        let session = session
        let documents = try await options.withBus { bus in
            try await bus.documents(matching: [.type(Document.ScheduledCommand.type, subject: session)])
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
        try await Console.output.writeList(timers, asJSON: output.json, empty: "no command is to be sent later")
    }

    /// A scheduled command with its session. Its JSON has the keys of the document and `session`.
    private struct Timer: Encodable, ListRow {
        let session: String
        let document: Document.ScheduledCommand

        static var columns: [Column<Timer>] {
            [
                Column(name: "TIME") { WallTime.text(of: $0.document.at) },
                Column(name: "SESSION", cell: \.session),
                Column(name: "COMMAND", cell: \.document.command.type.description),
                Column(name: "SERVICE", cell: \.document.consumer),
                Column(name: "ID", cell: \.document.id),
            ]
        }

        private enum CodingKeys: CodingKey {
            case session
        }

        func encode(to encoder: any Encoder) throws {
            try document.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(session, forKey: .session)
        }
    }
}
