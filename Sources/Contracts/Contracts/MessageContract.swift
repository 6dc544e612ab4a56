public import EventBus

/// The type of a message with the schemas of its data and of its answer.
public struct MessageContract: Codable, Hashable, Sendable {
    public var type: MessageType
    /// The schema of the message's data. Nil if the process that declares the message knows only the type.
    public var data: JSONSchema?
    /// The schema of the answer to a query. Nil for other messages.
    public var answer: JSONSchema?

    public init(type: MessageType, data: JSONSchema? = nil, answer: JSONSchema? = nil) {
        self.type = type
        self.data = data
        self.answer = answer
    }
}

/// A message that a process declares to receive or to send.
public struct DeclaredMessage: Sendable {
    public let type: MessageType
    /// The message's struct. Nil if only the type of the message is known.
    package let message: (any Message.Type)?

    /// Declares a message by its struct.
    public init(_ message: any Message.Type) {
        type = message.type
        self.message = message
    }

    /// Declares a message by its type. The structs of Segue's own messages are looked up by type.
    public init(_ type: MessageType) {
        self.type = type
        message = PlatformMessages.all.first { $0.type == type }
    }
}

extension [any Message.Type] {
    /// The messages' types on the wire, in the same order.
    public var types: [MessageType] { map { $0.type } }
}
