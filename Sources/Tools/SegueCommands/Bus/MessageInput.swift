internal import ArgumentParser
internal import Contracts
internal import EventBus
internal import Foundation
internal import Monitor
internal import Support

/// The messages that a command line describes.
enum MessageInput {
    case one(MessageDraft)
    /// Lines of standard input. If the type is nil, each line contains its own type.
    case lines(MessageType?, AsyncThrowingStream<[Data], any Error>)

    /// The message that a line describes.
    /// - Throws: ``CommandError`` `malformed-line`.
    static func draft(_ line: Data, of type: MessageType?) throws(CommandError) -> MessageDraft {
        guard let line = String(validating: line, as: UTF8.self) else {
            throw CommandError(code: "malformed-line", "the line is not UTF-8", status: .dataError)
        }
        guard let type else { return try MessageDraft(line: line) }
        do {
            return MessageDraft(type, data: try MessageData.object(line))
        } catch {
            throw CommandError(code: "malformed-line", "\(error)", status: .dataError)
        }
    }
}

/// A message to send, without the attributes that the options and the bus add.
struct MessageDraft: Sendable {
    let type: MessageType
    /// A JSON object on one line. For a line of input that is a CloudEvent, any data, also empty.
    let data: Data
    /// The attributes that a line contains, by their CloudEvents names. These attributes override the options.
    private var attributes: [String: String] = [:]

    init(_ type: MessageType, data: Data) {
        self.type = type
        self.data = data
    }

    /// - Parameter line: an object with `type` and `data`, such as a line of `segue monitor --json`.
    /// - Throws: ``CommandError``.
    init(line: String) throws(CommandError) {
        guard let event = JSONText(Data(line.utf8)), event.isObject else {
            throw CommandError(
                code: "malformed-line", "the line is not a JSON object",
                recovery: #"write it like {"type": "event.LaunchFinished", "data": {}}"#, status: .dataError)
        }
        guard let name = event["type"]?.stringValue else {
            throw CommandError(
                code: "malformed-line", "the object has no \"type\"",
                recovery: "add \"type\": \"command.NAME\", or write the type of all lines before --stdin",
                status: .dataError)
        }
        let type: MessageType
        do {
            type = try MessageSpelling.type(name)
        } catch {
            throw CommandError(code: "malformed-line", error.message, status: .dataError)
        }
        self.init(type, data: try Self.data(of: event, type))
        for name in ["subject", "platform", "device", "instance", "key"] { attributes[name] = event[name]?.stringValue }
    }

    /// The data of a line, as it is written there. A CloudEvent may have any data; that of a document without data
    /// withdraws the document. Any other line without data is a message with an empty object.
    private static func data(of event: JSONText, _ type: MessageType) throws(CommandError) -> Data {
        let isCloudEvent = event["specversion"] != nil
        do {
            guard let data = try CloudEventFormat.data(of: event) else {
                return isCloudEvent && type.kind == .document ? Data() : Data("{}".utf8)
            }
            if isCloudEvent || event["data"]?.isObject != false { return data }
        } catch {
            throw CommandError(code: "malformed-line", error.message, status: .dataError)
        }
        throw CommandError(
            code: "malformed-line", "\"data\" is not a JSON object", recovery: "write \"data\": {…}",
            status: .dataError)
    }

    func attributes(_ arguments: MessageArguments, on bus: EventBus) -> Attributes {
        var attributes = Attributes(
            type: type, source: bus.source, subject: self.attributes["subject"] ?? arguments.session)
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

/// Reads the data of a message from the command line.
enum MessageData {
    static let help = ArgumentHelp(
        "The query's data, a JSON object; '-' reads it from standard input.", valueName: "json")

    /// The data as a JSON object on one line. For `-`, reads standard input to its end.
    /// - Throws: ``CommandError`` if the data is not a JSON object, or standard input cannot be read.
    static func read(_ text: String) throws -> Data {
        guard text == "-" else { return try object(text) }
        return try object(StandardInput.text())
    }

    /// - Throws: ``CommandError`` `malformed-data` if the string is not a JSON object.
    static func object(_ text: String) throws -> Data {
        do {
            let json = try JSONText(parsing: Data(text.utf8))
            guard json.isObject else {
                throw CommandError(
                    code: "malformed-data", "the data is not a JSON object",
                    recovery: #"write it like '{"playlistID": "p1"}'"#, status: .dataError)
            }
            return Data(json.utf8)
        } catch let error as DecodingError {
            throw CommandError(code: "malformed-data", "the data is not JSON: \(error.summary)", status: .dataError)
        }
    }
}

/// Parses message types, and suggests a type for a misspelt one.
enum MessageSpelling {
    /// Parses the type of a message that can be published.
    /// - Throws: `ValidationError` if the string is not a message type, or is the type of a query.
    static func type(_ text: String) throws(ValidationError) -> MessageType {
        guard let type = MessageType(text) else { throw ValidationError(advice(on: text)) }
        guard type.kind != .query else {
            throw ValidationError("\(type) is a query and cannot be published; use 'segue ask'")
        }
        return type
    }

    /// Parses a type, with or without its kind. Nil if the string is not a type of this kind.
    static func type(_ name: String, of kind: MessageKind) -> MessageType? {
        let type = MessageType(name) ?? MessageType("\(kind).\(name)")
        return type?.kind == kind ? type : nil
    }

    /// The error message for `text`. It suggests a type if only the kind is missing or misspelled.
    private static func advice(on text: String) -> String {
        let parts = text.split(scalar: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
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
