public import EventBus

/// A message that a process says it receives or sends.
public struct DeclaredMessage: Sendable {
    public let type: MessageType
    private let message: (any Message.Type)?

    /// A message that the process has a struct of.
    public init(_ message: any Message.Type) {
        type = message.type
        self.message = message
    }

    /// A message that the process only knows by its name, as a flow does; what the platform's own carry is known.
    public init(_ type: MessageType) {
        self.type = type
        message = PlatformMessages.all.first { $0.type == type }
    }

    /// What it carries.
    /// - Throws: ``SchemaError`` when that cannot be told.
    public func contract() throws -> MessageContract {
        guard let message else { return MessageContract(type: type) }
        return try Self.contract(of: message)
    }

    private static func contract<M: Message>(of message: M.Type) throws -> MessageContract {
        let query = message as? any QueryMessage.Type
        return MessageContract(
            type: M.type, data: try JSONSchema(of: M.self), answer: try query.map { try answer(of: $0) })
    }

    private static func answer<Q: QueryMessage>(of query: Q.Type) throws -> JSONSchema {
        try JSONSchema(of: Q.Answer.self)
    }
}
