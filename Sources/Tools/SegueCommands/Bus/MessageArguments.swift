internal import ArgumentParser
internal import EventBus
internal import Foundation

/// A message, as it is written on a command line.
struct MessageArguments: ParsableArguments, Sendable {
    @Argument(help: ArgumentHelp("The message's type, as in command.PlaylistSelected.", valueName: "type"))
    var typeName: String

    @Argument(help: MessageData.help)
    var text = "{}"

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
            "After how many seconds a command is too old to be acted upon, or none. (default: 60)",
            valueName: "seconds"))
    var lifetime: Lifetime?

    func validate() throws {
        let type = try type
        guard type.kind == .document || key == nil else {
            throw ValidationError("--key is for documents; \(type) is none")
        }
        guard type.kind == .command || lifetime == nil else {
            throw ValidationError("--lifetime is for commands; \(type) does not expire")
        }
        try MessageData.validate(text)
    }

    /// - Throws: `ValidationError` that suggests the right spelling.
    var type: MessageType {
        get throws {
            guard let type = MessageType(typeName) else { throw ValidationError(MessageSpelling.advice(on: typeName)) }
            guard type.kind != .query else {
                throw ValidationError("\(type) is a question, which cannot be published; use 'segue ask'")
            }
            return type
        }
    }

    /// The data, on one line.
    /// - Throws: `ValidationError` when it is no JSON object.
    func json() throws -> Data { try MessageData.read(text) }

    func attributes(_ type: MessageType, on bus: any EventBus) -> Attributes {
        var attributes = Attributes(type: type, source: bus.source, subject: subject)
        attributes.platform = platform
        attributes.device = device
        attributes.instance = instance
        attributes.key = key
        if type.kind == .command {
            switch lifetime {
            case .unlimited: break
            case .seconds(let seconds): attributes.expire(after: .seconds(seconds))
            case nil: attributes.expire(after: Swift.type(of: bus).commandLifetime)
            }
        }
        return attributes
    }
}
