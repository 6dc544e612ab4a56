public import EventBus

/// What is known of a message: what it carries.
public struct MessageContract: Codable, Hashable, Sendable {
    public var type: MessageType
    /// What its data is; nil where whoever declares it knows no more than its type.
    public var data: JSONSchema?
    /// Of a query, what it is answered with.
    public var answer: JSONSchema?

    public init(type: MessageType, data: JSONSchema? = nil, answer: JSONSchema? = nil) {
        self.type = type
        self.data = data
        self.answer = answer
    }
}
