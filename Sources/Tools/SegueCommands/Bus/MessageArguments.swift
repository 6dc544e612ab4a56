internal import ArgumentParser
internal import EventBus
internal import Foundation

/// A message, or several, as they are written on a command line.
struct MessageArguments: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp("The message's type, as in command.PlaylistSelected.", valueName: "type"),
        completion: .messageTypes)
    var typeName: String?

    @Argument(
        help: ArgumentHelp(
            "Its data, a JSON object. - reads it from standard input; or many messages, one a line.", valueName: "json"),
        completion: .messageData)
    var text = "{}"

    @Flag(
        name: .customLong("stdin"),
        help: """
            Read messages from standard input, one a line, each as soon as it is there: its data, or without a type an \
            object with "type" and "data".
            """)
    var isStreamed = false

    @Option(help: "The session.")
    var subject = Session.default

    @Option(help: "The platform of the view it comes from, as in ios.")
    var platform: String?

    @Option(help: "The device of the view it comes from.")
    var device: String?

    @Option(help: "The screen instance it comes from.")
    var instance: String?

    @Option(help: "Which of several documents of its type it is.")
    var key: String?

    @Option(
        help: ArgumentHelp(
            "After how many seconds a command is too old to be acted upon, or none. (default: none; 60 with --device)",
            valueName: "seconds"))
    var lifetime: Lifetime?

    func validate() throws {
        let type = try type
        guard type != nil || isStreamed else {
            throw ValidationError(
                "no message is named; write its type, as in command.PlaylistSelected, or use --stdin")
        }
        guard !isStreamed || text == "{}" else {
            throw ValidationError("--stdin reads the data from standard input; leave '\(text)' out")
        }
        guard type == nil || type?.kind == .document || key == nil else {
            throw ValidationError("--key is for documents; \(typeName ?? "") is none")
        }
        guard type == nil || type?.kind == .command || lifetime == nil else {
            throw ValidationError("--lifetime is for commands; \(typeName ?? "") does not expire")
        }
        try MessageData.validate(text)
    }

    /// nil when each line says its own.
    /// - Throws: `ValidationError` that suggests the right spelling.
    private var type: MessageType? {
        get throws {
            try typeName.map { try MessageSpelling.type($0) }
        }
    }

    /// What is to be sent; reads standard input for `-`.
    /// - Throws: `ValidationError` when it is no JSON object.
    func input() throws -> MessageInput {
        guard !isStreamed, let type = try type else { return .lines(try type, StandardInput.lines) }
        guard text == "-" else { return .one(MessageDraft(type, data: try MessageData.object(text))) }
        let input = try StandardInput.text()
        let lines = input.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        // One object may be written on several lines; objects on several lines are many.
        do {
            return .one(MessageDraft(type, data: try MessageData.object(input)))
        } catch  where lines.count(where: { !$0.allSatisfy(\.isWhitespace) }) > 1 {
            return .lines(
                type,
                AsyncThrowingStream { continuation in
                    continuation.yield(lines)
                    continuation.finish()
                })
        }
    }
}
