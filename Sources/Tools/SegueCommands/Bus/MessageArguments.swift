internal import ArgumentParser
internal import Contracts
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

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

/// What a command line says is to be sent.
enum MessageInput {
    case one(MessageDraft)
    /// Lines, as they come; without a type, each says its own.
    case lines(MessageType?, AsyncThrowingStream<[String], any Error>)

    /// A draft of a line.
    /// - Throws: ``CommandError``.
    static func draft(_ line: String, of type: MessageType?) throws(CommandError) -> MessageDraft {
        guard let type else { return try MessageDraft(line: line) }
        do {
            return MessageDraft(type, data: try MessageData.object(line))
        } catch {
            throw CommandError(code: "malformed-line", "\(error)", status: .dataError)
        }
    }
}

/// A message that is to be sent, as far as whoever wrote it says what it is.
struct MessageDraft: Sendable {
    let type: MessageType
    /// JSON, on one line.
    let data: Data
    /// What it says of itself by the names of CloudEvents; the rest is as the command line has it.
    private var attributes: [String: String] = [:]

    init(_ type: MessageType, data: Data) {
        self.type = type
        self.data = data
    }

    /// - Parameter line: an object with `type` and `data`, as `segue monitor --json` prints messages.
    /// - Throws: ``CommandError``.
    init(line: String) throws(CommandError) {
        guard let event = try? JSONValue(parsing: Data(line.utf8)), case .object(let members) = event else {
            throw CommandError(
                code: "malformed-line", "it is no JSON object",
                recovery: #"write it like {"type": "event.LaunchFinished", "data": {}}"#, status: .dataError)
        }
        guard let name = members["type"]?.stringValue else {
            throw CommandError(
                code: "malformed-line", "it does not say its type",
                recovery: "write \"type\": \"command.NAME\", or name the type before --stdin", status: .dataError)
        }
        let type: MessageType
        do {
            type = try MessageSpelling.type(name)
        } catch {
            throw CommandError(code: "malformed-line", error.message, status: .dataError)
        }
        let data = members["data"] ?? [:]
        guard data.objectValue != nil else {
            throw CommandError(
                code: "malformed-line", "its data is no JSON object", recovery: "write \"data\": {…}",
                status: .dataError)
        }
        self.init(type, data: Data(data.description.utf8))
        attributes = members.compactMapValues(\.stringValue)
    }

    func attributes(_ arguments: MessageArguments, on bus: any EventBus) -> Attributes {
        var attributes = Attributes(
            type: type, source: bus.source, subject: self.attributes["subject"] ?? arguments.subject)
        attributes.platform = self.attributes["platform"] ?? arguments.platform
        attributes.device = self.attributes["device"] ?? arguments.device
        attributes.instance = self.attributes["instance"] ?? arguments.instance
        attributes.key = type.kind == .document ? self.attributes["key"] ?? arguments.key : nil
        if type.kind == .command {
            switch arguments.lifetime {
            case .unlimited: break
            case .seconds(let seconds): attributes.expire(after: .seconds(seconds))
            case nil: attributes.expireAsUsual()
            }
        }
        return attributes
    }
}

/// The data of a message, as it is written on a command line.
enum MessageData {
    static let help = ArgumentHelp("Its data, a JSON object; - reads it from standard input.", valueName: "json")

    /// The data, on one line; standard input is read to its end for `-`.
    /// - Throws: `ValidationError` when it is no JSON object.
    static func read(_ text: String) throws -> Data {
        guard text == "-" else { return try object(text) }
        return try object(StandardInput.text())
    }

    /// - Throws: `ValidationError` when it is no JSON object, as far as it is not yet to be read.
    static func validate(_ text: String) throws {
        if text != "-" { _ = try object(text) }
    }

    /// - Throws: `ValidationError` when it is no JSON object.
    static func object(_ text: String) throws -> Data {
        do {
            guard try JSONValue(parsing: Data(text.utf8)).objectValue != nil, let json = JSONText(Data(text.utf8))
            else {
                throw ValidationError("the data is not a JSON object; write it like '{\"playlistID\": \"p1\"}'")
            }
            return Data(json.description.utf8)
        } catch let error as DecodingError {
            throw ValidationError("the data is not JSON: \(error.summary)")
        }
    }
}

/// Helps with types that were not written as they go over the wire.
enum MessageSpelling {
    /// The type of a message that can be published.
    /// - Throws: `ValidationError` that suggests the right spelling.
    static func type(_ text: String) throws(ValidationError) -> MessageType {
        guard let type = MessageType(text) else { throw ValidationError(advice(on: text)) }
        guard type.kind != .query else {
            throw ValidationError("\(type) is a question, which cannot be published; use 'segue ask'")
        }
        return type
    }

    /// A type by its name alone, or in full; `nil` for one of another kind.
    static func type(_ name: String, of kind: MessageKind) -> MessageType? {
        let type = MessageType(name) ?? MessageType("\(kind).\(name)")
        return type?.kind == kind ? type : nil
    }

    /// One line: what is wrong with `text`, and what was probably meant.
    private static func advice(on text: String) -> String {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let kinds = MessageKind.allCases.map(\.rawValue)
        let meant: String? =
            if parts.count == 1 {
                "\(kind(ofName: text)).\(text)"
            } else {
                Spelling.nearest(to: parts[0].lowercased(), in: kinds).map { "\($0).\(parts[1])" }
            }
        let problem = "'\(text)' is not a message type"
        guard let meant, MessageType(meant) != nil else {
            return "\(problem) such as command.PlaylistSelected; a type begins with \(kinds.joined(separator: ", "))"
        }
        return "\(problem); did you mean \(meant)?"
    }

    private static func kind(ofName name: String) -> MessageKind {
        switch name {
        case ApplicationError.name: .error
        case DomainEvent.LaunchFinished.name, DomainEvent.DeepLinkReceived.name: .event
        default: .command
        }
    }
}

/// How long a command is worth acting upon.
enum Lifetime: Hashable, Sendable, ExpressibleByArgument {
    case unlimited
    case seconds(Double)

    /// `none`, or a number of seconds above zero: not so many that no timestamp could hold their end.
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
