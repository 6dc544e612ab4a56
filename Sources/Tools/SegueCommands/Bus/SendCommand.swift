package import ArgumentParser
internal import Contracts
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

package struct SendCommand: AsyncParsableCommand, WallTimeCommand {
    package static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Publish a message, or a message for each line of standard input.",
        discussion: """
            segue send event.LaunchFinished
            segue send command.PlaylistSelected '{"playlistID": "p1"}' --platform ios
            segue send command.Login --await event.LoginURLGenerated --field data.url
            segue send command.PlaylistSelected - < list.jsonl   one message per line
            segue monitor --json --count 5 | segue send --stdin  each line has its type, and is sent at once

            Prints the message's id, its position in the journal, and the time at which a command expires. With \
            --await, the awaited message is printed instead, or a part of it (--field).

            The data is checked against the contracts of the services on the bus. Invalid data is not sent, and \
            neither is a command or event that no process on the bus knows. With several lines, each invalid line is \
            reported, and all others are sent.

            The exit status is 65 if a message is not sent. With --await, it is 1 if an error arrives first, and 75 \
            if no awaited message arrives in time.
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var message: MessageArguments
    @OptionGroup var check: CheckOptions
    @OptionGroup var print: PrintOptions
    @OptionGroup var zone: ZoneOptions

    @Option(
        name: .customLong("await"),
        help: ArgumentHelp(
            "Wait for a message of this type that the sent message causes, and print it.", valueName: "type"),
        completion: .messageTypes)
    var awaited: MessagePattern?

    @Option(
        help: ArgumentHelp("The maximum time to wait with --await, such as 1m. (default: 30s)", valueName: "duration"),
        transform: Duration.argument)
    var timeout = Duration.seconds(30)

    package init() {}

    package func validate() throws {
        guard !print.choosesPart || awaited != nil else {
            throw ValidationError("--field, --csv, --raw and --template require --await")
        }
    }

    package func run() async throws {
        let input = try message.input()
        if case .lines = input, awaited != nil {
            throw ValidationError("--await waits for the result of one message; send one message instead of lines")
        }
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
                try await printer.withNames(of: bus) { show in try await show(message) }
            }
        }
    }
}

/// Publishes the messages of `segue send`.
struct MessageSender {
    let bus: EventBus
    let arguments: MessageArguments
    /// The check of the data. Nil if `--no-check` is given.
    let check: MessageCheck?
    let print: PrintOptions

    /// - Returns: the message with its position.
    /// - Throws: ``CommandError`` if the data does not match the services' contracts; ``BusError``.
    func publish(_ draft: MessageDraft) async throws -> Envelope {
        var envelope = try envelope(draft)
        envelope.position = try await bus.publish(Batch([envelope]))
        return envelope
    }

    /// The message to publish.
    /// - Throws: ``CommandError`` if the data does not match the services' contracts.
    func envelope(_ draft: MessageDraft) throws(CommandError) -> Envelope {
        try check?.check(draft.data, of: draft.type)
        return Envelope(attributes: draft.attributes(arguments, on: bus), data: draft.data)
    }

    /// Prints the id, position and expiry time of each message.
    /// - Parameter messages: published messages, with their positions.
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

    /// Warns if no presence on the bus names the type of a command or event.
    func warn(of type: MessageType) async throws {
        guard type.kind == .command || type.kind == .event else { return }
        let documents = try await bus.documents(matching: [.type(Document.Presence.self)])
        let presences = documents.compactMap { try? $0.decode(Document.Presence.self) }
        let known = Set(presences.flatMap { $0.receives + $0.sends })
        guard !known.contains(type.description) else { return }
        let recovery =
            Spelling.nearest(to: type.description, in: known).map { "did you mean \($0)?" } ?? "see 'segue services'"
        await Console.error.tell("published, but no process on the bus receives \(type) at the moment; \(recovery)")
    }
}

/// The JSON object that `segue send --json` prints. The position has the same form as in `segue monitor --json`.
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
    /// The time at which the message expires, in RFC 3339. Nil if the message does not expire.
    let expirytime: String?

    init(_ message: Envelope, at position: Position) {
        id = message.id
        type = message.type
        expirytime = message.attributes.expiryTime.map(Timestamp.text(of:))
        self.position = JournalPosition(position)
    }
}

/// Waits for the first message of an awaited type that a message causes, directly or through other processes.
struct AwaitedMessage: Sendable {
    let bus: EventBus
    /// The published message. Only messages after its position are considered.
    let cause: Envelope
    let awaited: MessagePattern

    /// - Throws: ``CommandError`` if the message causes an `ApplicationError` first, or if no awaited message arrives
    ///   in time.
    func message(within timeout: Duration) async throws -> Envelope {
        try await withTimeLimit(
            timeout,
            orThrow: CommandError(
                code: "no-outcome", "\(cause.type) caused no \(awaited) within \(timeout / .seconds(1)) s",
                recovery: "see 'segue services' for the process that handles it", status: .temporaryFailure)
        ) {
            try await first()
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
        CommandError(code: error.code, "\(cause.type) failed: \(error.message)", recovery: error.recovery)
    }
}
