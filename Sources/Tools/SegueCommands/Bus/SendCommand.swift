package import ArgumentParser
internal import EventBus
internal import Foundation
internal import Monitor

package struct SendCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Publishes one message.",
        discussion: """
            segue send event.LaunchFinished
            segue send command.PlaylistSelected '{"playlistID": "p1"}' --platform ios
            segue send command.SpotifyAuthorizationRequested --await event.SpotifyAuthURLGenerated --field data.url

            It prints the message's id and its position in the journal; with --await, what came of it instead.
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var message: MessageArguments
    @OptionGroup var print: PrintOptions

    @Option(
        name: .customLong("await"),
        help: ArgumentHelp("Wait for this type among what the message causes, and print that.", valueName: "type"))
    var awaited: MessagePattern?

    @Option(help: ArgumentHelp("How long --await waits at most.", valueName: "seconds"))
    var timeout = 30.0

    package init() {}

    package func validate() throws {
        guard timeout > 0 else { throw ValidationError("--timeout is \(timeout); it has to be above 0") }
        guard !print.choosesPart || awaited != nil else {
            throw ValidationError("--field, --csv, --raw and --template go with --await")
        }
    }

    package func run() async throws {
        let type = try message.type
        let data = try message.json()
        let (message, print, awaited, timeout) = (message, print, awaited, timeout)
        try await options.withBus { bus in
            var envelope = Envelope(attributes: message.attributes(type, on: bus), data: data)
            let position = try await bus.publish(Batch([envelope]))
            envelope.position = position
            try await Recipients(bus: bus).warn(of: type)
            if let awaited {
                let outcome = Outcome(bus: bus, cause: envelope, awaited: awaited)
                let printer = try MessagePrinter(print)
                let message = try await outcome.message(within: .seconds(timeout))
                try await printer.begin()
                try await printer.show(message)
            } else {
                let sent = SentMessage(id: envelope.id, type: type, position: position)
                try await Console.output.writeLine(print.json ? JSONLine.text(sent) : "\(sent.id) \(position)")
            }
        }
    }
}
