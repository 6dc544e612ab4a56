package import ArgumentParser
internal import EventBus
internal import Foundation

package struct SendCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Publishes one message.",
        discussion: """
            segue send event.LaunchFinished
            segue send command.PlaylistSelected '{"playlistID": "p1"}' --platform ios

            It prints the message's id and its position in the journal.
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var message: MessageArguments

    @Flag(help: "Print a JSON object.")
    var json = false

    package init() {}

    package func run() async throws {
        let type = try message.type
        let data = try message.json()
        let (message, json) = (message, json)
        try await options.withBus { bus in
            let envelope = Envelope(attributes: message.attributes(type, source: bus.source), data: data)
            let position = try await bus.publish(Batch([envelope]))
            let sent = SentMessage(id: envelope.id, type: type, position: position)
            try await Console.output.writeLine(json ? JSONLine.text(sent) : "\(sent.id) \(position)")
            try await Recipients(bus: bus).warn(of: type)
        }
    }
}
