public import Foundation

/// A message as it travels: its attributes, its data as JSON, and, once it is journalled, its position.
public struct Envelope: Hashable, Sendable {
    public var attributes: Attributes
    /// JSON, in UTF-8. Empty for a document that no longer exists.
    public var data: Data
    /// Where the bus put it; nil until it is published.
    public var position: Position?
    /// Why nothing but the type is known of it; nil for a message that can be read. Only durable consumers and dead letters
    /// have such messages.
    public internal(set) var unreadableHeader: UnreadableHeader?

    public init(attributes: Attributes, data: Data, position: Position? = nil) {
        self.attributes = attributes
        self.data = data
        self.position = position
    }
}

extension Envelope {
    public var id: String { attributes.id }
    public var type: MessageType { attributes.type }
    public var subject: String { attributes.subject }

    /// Whether this withdraws a document: the retained one with the same type, subject and key is gone.
    public var isTombstone: Bool { type.kind == .document && data.isEmpty && unreadableHeader == nil }

    /// Whether a durable consumer is to handle it: a dead letter that is sent again is for one alone.
    public func concerns(_ consumer: String) -> Bool {
        attributes.recipient.map { $0 == consumer } ?? true
    }

    /// Wraps a typed message.
    ///
    /// What was caused inherits the subject, the correlation, the trace and the origin of its cause, unless an origin is given.
    /// - Parameters:
    ///   - source: the publishing process.
    ///   - origin: the view it came from.
    ///   - cause: the message that this one answers.
    /// - Throws: ``BusError`` with code ``BusError/Code/malformed`` if the message cannot be written as JSON.
    public init(
        _ message: some Message, source: String, subject: String = Session.default, origin: Origin = Origin(),
        causedBy cause: Envelope? = nil
    ) throws {
        let type = Swift.type(of: message).type
        var attributes =
            if let cause {
                Attributes(type: type, source: source, causedBy: cause.attributes)
            } else {
                Attributes(type: type, source: source, subject: subject)
            }
        attributes.platform = origin.platform ?? attributes.platform
        attributes.device = origin.device ?? attributes.device
        attributes.instance = origin.instance ?? attributes.instance
        attributes.key = message.key
        do {
            self.init(attributes: attributes, data: try JSONEncoder.wire.encode(message))
        } catch {
            throw BusError(.malformed, "\(attributes.type) cannot be written as JSON: \(error)")
        }
    }

    /// The message inside.
    /// - Throws: ``BusError`` with code ``BusError/Code/malformed`` if the data is not what `type` says, or the header cannot be read.
    public func decode<M: Message>(_ message: M.Type = M.self) throws -> M {
        try decodeData(as: M.self)
    }

    func decodeData<Value: Decodable>(as type: Value.Type) throws -> Value {
        if let unreadableHeader { throw BusError(.malformed, unreadableHeader.reason) }
        do {
            return try JSONDecoder().decode(Value.self, from: data)
        } catch let error as DecodingError {
            throw BusError(.malformed, "\(self.type) \(id) has data that cannot be read: \(error.summary)")
        }
    }
}
