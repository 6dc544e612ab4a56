public import Foundation
internal import Support
internal import Synchronization

/// A message on the bus: its attributes, its data as JSON and, once the journal has recorded it, its position.
public struct Envelope: Hashable, Sendable {
    private var head: Head
    /// JSON in UTF-8. Empty if the message withdraws a document.
    public var data: Data
    /// The position in the journal; nil until the message is published, and for a transient message.
    public var position: Position?

    public init(attributes: Attributes, data: Data, position: Position? = nil) {
        self.init(attributes: attributes, unreadableHeader: nil, data: data, position: position)
    }

    private init(attributes: Attributes, unreadableHeader: UnreadableHeader?, data: Data, position: Position?) {
        head = Head(attributes, unreadableHeader)
        self.data = data
        self.position = position
    }

    /// Creates the envelope of a message whose header is in the plain form. The header's attributes are read when they
    /// are asked for. Nil if the header has another form, or is not valid.
    package init?(
        plain header: UnsafeBufferPointer<UInt8>, data: UnsafeBufferPointer<UInt8>, position: Position?
    ) {
        guard let header = PlainHeader(header) else { return nil }
        head = Head(header)
        self.data = Data(data)
        self.position = position
    }

    /// Creates the envelope of a message with this header.
    /// - Throws: `DecodingError` as `Attributes.init(json:)` does.
    package init(received header: ArraySlice<UInt8>, data: ArraySlice<UInt8>, position: Position?) throws {
        let plain = header.withUnsafeBufferPointer { header in
            data.withUnsafeBufferPointer { Envelope(plain: header, data: $0, position: position) }
        }
        self =
            try plain
            ?? Envelope(
                attributes: JSONReader.decode(Attributes.self, from: header), data: Data(data), position: position)
    }

    public var attributes: Attributes {
        _read { yield head.attributes }
        _modify {
            var attributes = head.attributes
            defer { head = Head(attributes, head.unreadable) }
            yield &attributes
        }
    }

    /// Nil if the header can be read. Otherwise it contains the reason, and the attributes other than the type are
    /// placeholders.
    public var unreadableHeader: UnreadableHeader? { head.unreadable }

    /// The attributes of an envelope and its copies: an envelope is copied often, and the attributes are many strings.
    private final class Head: Hashable, Sendable {
        let type: MessageType
        let unreadable: UnreadableHeader?
        /// Nil if the attributes are not from a header.
        private let header: PlainHeader?
        /// Nil until the header is read.
        private let known: Mutex<ReadAttributes?>

        private final class ReadAttributes: Sendable {
            let attributes: Attributes

            init(_ attributes: Attributes) {
                self.attributes = attributes
            }
        }

        init(_ attributes: Attributes, _ unreadable: UnreadableHeader?) {
            (type, self.unreadable, header) = (attributes.type, unreadable, nil)
            known = Mutex(ReadAttributes(attributes))
        }

        init(_ header: PlainHeader) {
            (type, unreadable, self.header) = (header.type, nil, header)
            known = Mutex(nil)
        }

        var attributes: Attributes {
            _read {
                let read = known.withLock { known in
                    let read = known ?? ReadAttributes(header?.attributes ?? .unknown)
                    known = read
                    return read
                }
                yield read.attributes
            }
        }

        /// The partition of the subject.
        var partition: Partition { header?.partition ?? Partition(subject: attributes.subject) }

        static func == (left: Head, right: Head) -> Bool {
            left === right || left.attributes == right.attributes && left.unreadable == right.unreadable
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(attributes)
            hasher.combine(unreadable)
        }
    }

    public var id: String { head.attributes.id }
    public var type: MessageType { head.type }
    public var subject: String { head.attributes.subject }
    /// The kind of the type.
    package var kind: MessageKind { head.type.kind }
    /// See ``Attributes/key``.
    package var key: String? { head.attributes.key }

    /// True if the message withdraws a document: the retained document of the same type, subject and key is removed.
    public var isTombstone: Bool { type.kind == .document && data.isEmpty && unreadableHeader == nil }

    /// True if this durable consumer is to handle the message. A dead letter that was sent again is for one consumer
    /// only.
    public func concerns(_ consumer: String) -> Bool {
        attributes.recipient.map { $0 == consumer } ?? true
    }

    /// Wraps a typed message.
    ///
    /// A message with a cause inherits the subject, the correlation, the trace and the origin of the cause. The fields
    /// of `origin` that are not nil replace those of the cause.
    /// - Parameters:
    ///   - source: The publishing process, `name/instance`.
    ///   - subject: The session; ignored if there is a cause.
    ///   - origin: The view that the message came from.
    ///   - cause: The message that caused this one; nil if there is none.
    /// - Throws: ``BusError`` with code ``BusError/Code/malformed`` if the message cannot be encoded as JSON.
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

    /// Wraps a typed message that another message caused. A command from a view expires after
    /// ``Attributes/usualLifetime``.
    /// - Parameters:
    ///   - source: The publishing process, `name/instance`.
    ///   - cause: The attributes of the message that caused this one.
    ///   - origin: The view that the message concerns; if nil, the view of the cause.
    /// - Throws: ``BusError`` with code ``BusError/Code/malformed`` if the message cannot be encoded as JSON.
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
            self.init(attributes: attributes, data: try JSONWriter.data(of: message))
        } catch {
            throw BusError(.malformed, "\(attributes.type) cannot be written as JSON: \(error)")
        }
    }

    /// Creates a message that withdraws a document in the session of `cause`, the message that caused the withdrawal.
    package static func withdrawal(
        _ type: MessageType, key: String?, source: String, causedBy cause: Attributes, platform: String? = nil,
        id: String = MessageID.make()
    ) -> Envelope {
        let origin = Origin(platform: platform ?? cause.platform)
        var attributes = Attributes(type: type, source: source, causedBy: cause, origin: origin, id: id)
        attributes.key = key
        return Envelope(attributes: attributes, data: Data())
    }

    /// Decodes the typed message.
    /// - Throws: ``BusError`` with code ``BusError/Code/malformed`` if the data does not match the type, or the header
    ///   cannot be read.
    public func decode<M: Message>(_ message: M.Type = M.self) throws -> M {
        try decodeData(as: M.self)
    }

    package func decodeData<Value: Decodable>(as type: Value.Type) throws -> Value {
        if let unreadableHeader { throw BusError(.malformed, unreadableHeader.reason) }
        do {
            return try JSONReader.decode(Value.self, from: data)
        } catch let error as DecodingError {
            throw BusError(.malformed, "\(self.type) \(id) has data that cannot be read: \(error.summary)")
        }
    }

    /// Creates the envelope of a message with an unreadable header. Only its type, data and position are real; the
    /// other attributes are placeholders.
    package init(type: MessageType, _ header: UnreadableHeader, data: Data, position: Position?) {
        let place = position.map { "@\($0)" } ?? MessageID.make()
        let attributes = Attributes(
            id: place, source: "unknown", type: type, subject: Session.default, time: Date(), correlationID: place,
            traceparent: nil)
        self.init(attributes: attributes, unreadableHeader: header, data: data, position: position)
    }

    /// The partition of the message's subject. If the header cannot be read, the partition of its topic.
    public var partition: Partition { unreadableHeader?.partition ?? head.partition }

    /// The reason why every durable consumer gives up the message; nil if the header can be read.
    public var rejection: Rejection? {
        unreadableHeader.map { Rejection(code: "message.malformed", reason: $0.reason, attempts: 1) }
    }

    /// Appends the attributes as JSON.
    /// - Throws: ``Mistake`` if an attribute is too long, or a time is outside the years 0000 to 9999.
    package func writeHeader(to bytes: inout [UInt8]) throws(Mistake) {
        try Rules.check(head.attributes)
        head.attributes.writeJSON(to: &bytes)
    }

    /// Checks the rules that apply to a message of any kind.
    /// - Throws: ``BusError`` with code `refused`.
    func validate() throws(BusError) {
        do {
            try check()
        } catch {
            throw BusError(error)
        }
    }

    /// - Returns: The size of the header and the data in bytes.
    @discardableResult
    func check(isTransient: Bool = false) throws(Mistake) -> Int {
        try Rules.check(type, subject: subject)
        try Rules.check(attributes)
        let headerCount = attributes.json.count
        try Rules.check(type, key: attributes.key ?? "", headerCount: headerCount, dataCount: data.count)
        if isTransient { try Rules.checkTransient(type, headerCount: headerCount, dataCount: data.count) }
        return headerCount + data.count
    }
}

/// A header that is not CloudEvents JSON, or whose type or subject does not match the topic of the message.
///
/// The type and the partition of such a message are those of its topic.
public struct UnreadableHeader: Hashable, Sendable {
    /// One line that says what is wrong.
    public let reason: String
    /// The partition of the topic; the subject is unknown.
    public let partition: Partition
    /// The header as it was published.
    public let bytes: Data

    package init(reason: String, partition: Partition, bytes: Data) {
        self.reason = reason
        self.partition = partition
        self.bytes = bytes
    }
}

extension DecodingError {
    /// A description of the error, in one line, with its path in the JSON.
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
