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
        try self.init(message, attributes)
    }

    /// Wraps a typed message that another one led to. A command from a view expires after ``Attributes/usualLifetime``.
    /// - Parameters:
    ///   - source: the publishing process.
    ///   - cause: the attributes of the message that led to this one.
    ///   - origin: the view that the message concerns; that of the cause if it is nil.
    /// - Throws: ``BusError`` with code ``BusError/Code/malformed`` if the message cannot be written as JSON.
    package init(
        _ message: some Message, source: String, causedBy cause: Attributes, origin: Origin? = nil,
        id: String = MessageID.make()
    ) throws {
        let type = Swift.type(of: message).type
        try self.init(message, Attributes(type: type, source: source, causedBy: cause, origin: origin, id: id))
        attributes.expireAsUsual()
    }

    private init(_ message: some Message, _ attributes: Attributes) throws {
        var attributes = attributes
        attributes.key = message.key
        do {
            self.init(attributes: attributes, data: try JSONEncoder.wire.encode(message))
        } catch {
            throw BusError(.malformed, "\(attributes.type) cannot be written as JSON: \(error)")
        }
    }

    /// Withdraws the document of a type and key in the session of the message that leads to it.
    package static func withdrawal(
        _ type: MessageType, key: String?, source: String, causedBy cause: Attributes, platform: String? = nil,
        id: String = MessageID.make()
    ) -> Envelope {
        let origin = Origin(platform: platform ?? cause.platform)
        var attributes = Attributes(type: type, source: source, causedBy: cause, origin: origin, id: id)
        attributes.key = key
        return Envelope(attributes: attributes, data: Data())
    }

    /// Withdraws a document whose publisher has gone: a message that no other led to.
    package static func withdrawal(
        _ type: MessageType, key: String?, subject: String, source: String, time: Date = Date()
    ) -> Envelope {
        var attributes = Attributes(type: type, source: source, subject: subject, time: time)
        attributes.key = key
        return Envelope(attributes: attributes, data: Data())
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

    /// What can be said of a message with an unreadable header: its type, and where it stands. The rest of its attributes
    /// stands for nothing.
    package init(type: MessageType, _ header: UnreadableHeader, data: Data, position: Position?) {
        let place = position.map { "@\($0)" } ?? MessageID.make()
        let attributes = Attributes(
            type: type, source: "unknown", subject: Session.default, id: place, time: Date(), correlationID: place,
            traceparent: nil)
        self.init(attributes: attributes, data: data, position: position)
        unreadableHeader = header
    }

    /// The share of the work that it belongs to.
    public var partition: Partition { unreadableHeader?.partition ?? Partition(subject: subject) }

    /// Why a durable consumer has to give it up, whatever it is for; nil for a message that can be read.
    public var rejection: Rejection? {
        unreadableHeader.map { Rejection(code: "message.malformed", reason: $0.reason, attempts: 1) }
    }

    /// Checks what every message has to be, also one that is not published.
    /// - Throws: ``BusError`` with code `refused`.
    func validate() throws(BusError) {
        do {
            try check()
        } catch {
            throw BusError(error)
        }
    }

    func check(isTransient: Bool = false) throws(Mistake) {
        try Rules.check(type, subject: subject)
        try Rules.check(attributes)
        try Rules.check(
            type, key: attributes.key ?? "", headerCount: attributes.json.count, dataCount: data.count,
            isTransient: isTransient)
    }
}

/// A header that is not CloudEvents JSON, or that says another type or subject than its message's topic.
///
/// Nobody but its publisher can say what such a message means. Its topic tells whom it concerns, so that a durable consumer
/// can give it up and go on.
public struct UnreadableHeader: Hashable, Sendable {
    /// One line: what is wrong.
    public let reason: String
    /// That of the topic: the subject is not known.
    public let partition: Partition
    /// The header as it was published.
    public let bytes: Data

    package init(reason: String, partition: Partition, bytes: Data) {
        self.reason = reason
        self.partition = partition
        self.bytes = bytes
    }
}

extension JSONEncoder {
    /// Keys in order, so that equal messages are equal bytes.
    package static var wire: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension DecodingError {
    /// One line: what is wrong, and at which path of the JSON.
    public var summary: String {
        let context =
            switch self {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context): context
            case .keyNotFound(let key, let context):
                Context(codingPath: context.codingPath, debugDescription: "the field '\(key.stringValue)' is missing")
            @unknown default: Context(codingPath: [], debugDescription: "\(self)")
            }
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return (path.isEmpty ? context.debugDescription : "at \(path): \(context.debugDescription)").shortened()
    }
}
