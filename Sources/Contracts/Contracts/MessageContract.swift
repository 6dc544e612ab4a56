public import EventBus
public import Navigation
public import Support

/// The type of a message with the schemas of its data and of its answer.
public struct MessageContract: Codable, Hashable, Sendable {
    public var type: MessageType
    /// The schema of the message's data. Nil if the process that declares the message knows only the type.
    public var data: JSONSchema?
    /// The schema of the answer to a query. Nil for other messages.
    public var answer: JSONSchema?
    /// The template of the message's line, as in `Message.line`. Nil if there is none.
    public var line: String?

    /// The maximum length of a line, in Unicode scalars.
    private static let lineLimit = 200

    /// - Parameter line: An empty line, and one with more than 200 characters, is left out.
    public init(type: MessageType, data: JSONSchema? = nil, answer: JSONSchema? = nil, line: String? = nil) {
        self.type = type
        self.data = data
        self.answer = answer
        self.line = line.flatMap { (1...Self.lineLimit).contains($0.unicodeScalars.count) ? $0 : nil }
    }

    /// Decodes the contract of a message. Tools can do without the line, so a value that is not a line is left out.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            type: try container.decode(MessageType.self, forKey: .type),
            data: try container.decodeIfPresent(JSONSchema.self, forKey: .data),
            answer: try container.decodeIfPresent(JSONSchema.self, forKey: .answer),
            line: try? container.decodeIfPresent(String.self, forKey: .line))
    }
}

/// A message that a process declares to receive or to send.
public struct DeclaredMessage: Sendable {
    public let type: MessageType
    /// The message's struct. Nil if there is none, or if it is not known.
    package let message: (any Message.Type)?
    /// The schema of the data of a message without a struct. Nil if it is not known.
    package let data: JSONSchema?

    /// Declares a message by its struct.
    public init(_ message: any Message.Type) {
        type = message.type
        self.message = message
        data = nil
    }

    /// Declares a message by its type. The structs of Segue's own messages are looked up by type.
    ///
    /// - Parameter flow: A flow that may declare the fields of the message under `commands`.
    public init(_ type: MessageType, in flow: Flow? = nil) {
        self.type = type
        message = PlatformMessages.all.first { $0.type == type }
        data = flow?.commands[type.description].map { .object($0) }
    }
}

extension [any Message.Type] {
    /// The messages' types on the wire, in the same order.
    public var types: [MessageType] { map { $0.type } }
}
