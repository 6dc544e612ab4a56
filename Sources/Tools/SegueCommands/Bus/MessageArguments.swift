internal import ArgumentParser
internal import EventBus
internal import Foundation
internal import Support

/// The arguments that describe the messages to send.
struct MessageArguments: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp("The message's type, such as command.PlaylistSelected.", valueName: "type"),
        completion: .messageTypes)
    var typeName: String?

    @Argument(
        help: ArgumentHelp(
            "The message's data, a JSON object. '-' reads one object, or one object per line, from standard input to its end.",
            valueName: "json"),
        completion: .messageData)
    var text = "{}"

    @Flag(
        name: .customLong("stdin"),
        help: """
            Read messages from standard input, one per line, and send them as they arrive. A line is the message's \
            data or, without the type argument, an object with "type" and "data".
            """)
    var isStreamed = false

    @Option(name: .session, help: ArgumentHelp("The session of the message.", valueName: "session"))
    var session = Session.default

    @Option(help: "The platform of the view that sends the message, such as ios.")
    var platform: String?

    @Option(help: "The device of the view that sends the message.")
    var device: String?

    @Option(help: "The screen instance that sends the message.")
    var instance: String?

    @Option(help: "The document's key.")
    var key: String?

    @Option(
        help: ArgumentHelp(
            "The number of seconds after which a command expires, or none. (default: none; 60 with --device)",
            valueName: "seconds"))
    var lifetime: Lifetime?

    func validate() throws {
        let type = try type
        guard type != nil || isStreamed else {
            throw ValidationError(
                "the type of the message is missing; write it, such as command.PlaylistSelected, or use --stdin")
        }
        guard !isStreamed || text == "{}" else {
            throw ValidationError("--stdin reads the data from standard input; remove the argument '\(text)'")
        }
        guard type == nil || type?.kind == .document || key == nil else {
            throw ValidationError("only a document has a key, and \(typeName ?? "") is not a document; remove --key")
        }
        guard type == nil || type?.kind == .command || lifetime == nil else {
            throw ValidationError("only a command expires, and \(typeName ?? "") is not a command; remove --lifetime")
        }
    }

    /// The type of all messages. Nil if each line contains its own type.
    /// - Throws: `ValidationError` if the argument is not a message type, or is the type of a query.
    private var type: MessageType? {
        get throws {
            try typeName.map { try MessageSpelling.type($0) }
        }
    }

    /// The messages to send. Reads standard input if the data is `-` or `--stdin` is given.
    /// - Throws: ``CommandError`` if the data is not a JSON object, or standard input cannot be read.
    func input() throws -> MessageInput {
        guard !isStreamed, let type = try type else { return .lines(try type, StandardInput.lines) }
        guard text == "-" else { return .one(MessageDraft(type, data: try MessageData.object(text))) }
        let input = try StandardInput.text()
        let lines = input.lines.map(String.init)
        // The input is one message if it is one JSON object. If it is not, and has several lines, each line is a
        // message.
        do {
            return .one(MessageDraft(type, data: try MessageData.object(input)))
        } catch  where lines.count(where: { !$0.isBlank }) > 1 {
            return .lines(
                type,
                AsyncThrowingStream { continuation in
                    continuation.yield(lines.map { Data($0.utf8) })
                    continuation.finish()
                })
        }
    }
}

/// The time after which a command expires.
enum Lifetime: Hashable, Sendable, ExpressibleByArgument {
    case unlimited
    case seconds(Double)

    /// Nil if the argument is invalid, or if the command would expire after the year 9999: a timestamp cannot contain a
    /// later year.
    /// - Parameter argument: `none`, or a number of seconds above zero.
    init?(argument: String) {
        if argument == "none" {
            self = .unlimited
        } else if let seconds = Double(argument), seconds > 0, Timestamp.canHold(Date(timeIntervalSinceNow: seconds)) {
            self = .seconds(seconds)
        } else {
            return nil
        }
    }
}
