package import ArgumentParser
internal import EventBus
internal import Foundation
internal import Monitor

package struct SendCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Publishes a message, or one for each line of standard input.",
        discussion: """
            segue send event.LaunchFinished
            segue send command.PlaylistSelected '{"playlistID": "p1"}' --platform ios
            segue send command.SpotifyAuthorizationRequested --await event.SpotifyAuthURLGenerated --field data.url
            segue send command.PlaylistSelected - < playlists.jsonl    one message a line
            segue monitor --json --count 5 | segue send --stdin        lines that say their types

            It prints the message's id and its position in the journal, and when a command expires; with --await, what came of it instead. The status is
            then 1 when an error came of it, and 75 when nothing did in time.

            The data is held to what the services on the bus say that their messages carry: what does not fit is not sent, \
            and the status is 65. Of lines, those that do not fit are named, and all others are sent.
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var message: MessageArguments
    @OptionGroup var check: CheckOptions
    @OptionGroup var print: PrintOptions

    @Option(
        name: .customLong("await"),
        help: ArgumentHelp("Wait for this type among what the message causes, and print that.", valueName: "type"),
        completion: .messageTypes)
    var awaited: MessagePattern?

    @Option(
        help: ArgumentHelp("How long --await waits at most, as in 500ms or 1m. (default: 30s)", valueName: "time"),
        transform: Duration.argument)
    var timeout = Duration.seconds(30)

    package init() {}

    package func validate() throws {
        guard !print.choosesPart || awaited != nil else {
            throw ValidationError("--field, --csv, --raw and --template go with --await")
        }
    }

    package func run() async throws {
        let input = try message.input()
        if case .lines = input, awaited != nil { throw ValidationError("--await is for one message, not for lines") }
        let (message, check, print, awaited, timeout) = (message, check, print, awaited, timeout)
        try await options.withBus { bus in
            let sender = MessageSender(
                bus: bus, arguments: message, check: try await check.check(on: bus), print: print)
            switch input {
            case .lines(let type, let lines):
                var sender = LineSender(sender, type: type)
                try await sender.publish(lines)
            case .one(let draft):
                let sent = try await sender.publish(draft)
                try await Recipients(bus: bus).warn(of: sent.type)
                guard let awaited else { return try await sender.show([sent]) }
                let outcome = Outcome(bus: bus, cause: sent, awaited: awaited)
                let printer = try MessagePrinter(print)
                let message = try await outcome.message(within: timeout)
                try await printer.begin()
                try await printer.show(message)
            }
        }
    }
}
