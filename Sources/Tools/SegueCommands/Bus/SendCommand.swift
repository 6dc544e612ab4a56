package import ArgumentParser
internal import Contracts
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

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
                try await sender.warn(of: sent.type)
                guard let awaited else { return try await sender.show([sent]) }
                let outcome = AwaitedMessage(bus: bus, cause: sent, awaited: awaited)
                let printer = try MessagePrinter(print)
                let message = try await outcome.message(within: timeout)
                try await printer.begin()
                try await printer.show(message)
            }
        }
    }
}

/// Publishes what `segue send` was given.
struct MessageSender {
    let bus: any EventBus
    let arguments: MessageArguments
    let check: MessageCheck?
    let print: PrintOptions

    /// - Throws: ``CommandError`` when the data is not what the services say.
    func publish(_ draft: MessageDraft) async throws -> Envelope {
        var envelope = try envelope(draft)
        envelope.position = try await bus.publish(Batch([envelope]))
        return envelope
    }

    /// What is to be published.
    /// - Throws: ``CommandError`` when the data is not what the services say.
    func envelope(_ draft: MessageDraft) throws(CommandError) -> Envelope {
        try check?.check(draft.data, of: draft.type)
        return Envelope(attributes: draft.attributes(arguments, on: bus), data: draft.data)
    }

    /// - Parameter messages: as they were published.
    func show(_ messages: [Envelope]) async throws {
        let lines = try messages.compactMap { message in
            try message.position.map { position in
                let sent = SentMessage(message, at: position)
                if print.json { return try JSONValue(encoding: sent).description }
                return "\(sent.id) \(position)" + (sent.expirytime.map { " expires \($0)" } ?? "")
            }
        }
        try await Console.output.writeLines(lines)
    }

    /// Tells when nobody on the bus listens to a command or event: its name may be misspelt. That is no failure, since
    /// the service may just be restarted and find the message in the journal.
    func warn(of type: MessageType) async throws {
        guard type.kind == .command || type.kind == .event else { return }
        let documents = try await bus.documents(matching: [.type(Document.Presence.self)])
        let presences = documents.compactMap { try? $0.decode(Document.Presence.self) }
        let known = Set(presences.flatMap { $0.receives + $0.sends })
        guard !known.contains(type.description) else { return }
        let hint =
            Spelling.nearest(to: type.description, in: known).map { "did you mean \($0)?" } ?? "see 'segue services'"
        await Console.error.tell("published, but nobody on the bus receives \(type) at the moment; \(hint)")
    }
}

/// What `segue send --json` tells; the position looks as it does in `segue monitor --json`.
struct SentMessage: Encodable {
    struct JournalPosition: Encodable {
        let epoch: String
        let offset: UInt64

        init(_ position: Position) {
            epoch = String(position.epoch, radix: 16)
            offset = position.offset
        }
    }

    let id: String
    let type: MessageType
    let position: JournalPosition
    /// When a command expires; nil for never.
    let expirytime: String?

    init(_ message: Envelope, at position: Position) {
        id = message.id
        type = message.type
        expirytime = message.attributes.expiryTime.map(Timestamp.text(of:))
        self.position = JournalPosition(position)
    }
}

/// What comes of a message: the first of a type that carries its correlation, however many processes lie between.
struct AwaitedMessage: Sendable {
    let bus: any EventBus
    /// As it was published: only what is journalled behind it is looked at.
    let cause: Envelope
    let awaited: MessagePattern

    /// - Throws: ``CommandError`` when an error came of it instead, or nothing in time.
    func message(within timeout: Duration) async throws -> Envelope {
        try await withThrowingTaskGroup(of: Envelope.self) { group in
            group.addTask { try await first() }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw CommandError(
                    code: "no-outcome", "no \(awaited) came of \(cause.type) within \(timeout / .seconds(1)) s",
                    recovery: "see 'segue services' for who handles it", status: .temporaryFailure)
            }
            defer { group.cancelAll() }
            guard let message = try await group.next() else { throw CancellationError() }
            return message
        }
    }

    private func first() async throws -> Envelope {
        let start = cause.position.map(StartPosition.after) ?? .now
        return try await bus.withSubscription(to: [.all], from: start) { messages in
            for try await message in messages where message.attributes.correlationID == cause.id {
                if awaited.matches(message.type) { return message }
                if message.type == ApplicationError.type { throw failure(try message.decode()) }
            }
            throw BusError(.closed, "the bus was closed")
        }
    }

    private func failure(_ error: ApplicationError) -> CommandError {
        CommandError(code: error.code, "\(cause.type) failed: \(error.message)".printable, recovery: error.recovery)
    }
}
