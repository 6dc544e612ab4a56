public import Foundation
internal import Synchronization

/// What every message says about itself: the attributes of CloudEvents 1.0 and this project's extensions.
///
/// The names on the wire are those of the CloudEvents specification, in lower case.
public struct Attributes: Hashable, Sendable {
    /// Unique per message.
    public var id: String
    /// The process that published it: `name/instance`.
    public var source: String
    public var type: MessageType
    /// The session, one user's app.
    public var subject: String
    public var time: Date
    /// The id of the message that began this story.
    public var correlationID: String
    /// The id of the message that directly caused this one.
    public var causationID: String?
    /// The place in the story's trace: see ``TraceContext``. `nil` only in what was read.
    public var traceparent: String?
    /// When a command is too old to be acted upon.
    public var expiryTime: Date?
    /// The platform of the view it came from, as in `ios`.
    public var platform: String?
    /// The device of the view it came from.
    public var device: String?
    /// The screen instance it came from.
    public var instance: String?
    /// Which of several documents of one type and subject this is.
    public var key: String?
    /// The only durable consumer that handles it: set on a dead letter that is sent again.
    public var recipient: String?

    /// Attributes of a first message, one that nothing caused: it begins a story and its trace.
    public init(
        type: MessageType, source: String, subject: String = Session.default,
        id: String = MessageID.make(),
        time: Date = Date()
    ) {
        self.init(
            type: type, source: source, subject: subject, id: id, time: time, correlationID: id,
            traceparent: TraceContext().text)
    }

    /// Attributes of a message that another one led to: of the same subject and story, and in the same trace.
    ///
    /// This is the one place that derives them. A message of a stranger may have attributes that no client publishes, because
    /// they exceed 255 bytes: these are not inherited.
    /// - Parameter origin: the view that the message concerns; that of the cause if it is nil.
    public init(
        type: MessageType, source: String, causedBy cause: Attributes, origin: Origin? = nil,
        id: String = MessageID.make(), time: Date = Date()
    ) {
        let story = [cause.correlationID, cause.id].first(where: \.isAttribute) ?? id
        let trace = cause.traceparent.flatMap(TraceContext.init(parsing:))?.next ?? TraceContext(story: story)
        self.init(
            type: type, source: source, subject: cause.subject, id: id, time: time, correlationID: story,
            traceparent: trace.text)
        causationID = cause.id.isAttribute ? cause.id : nil
        let origin = origin ?? cause.origin
        platform = origin.platform.flatMap { $0.isAttribute ? $0 : nil }
        device = origin.device.flatMap { $0.isAttribute ? $0 : nil }
        instance = origin.instance.flatMap { $0.isAttribute ? $0 : nil }
    }

    /// Attributes as they are read.
    init(
        type: MessageType, source: String, subject: String, id: String, time: Date, correlationID: String,
        traceparent: String?
    ) {
        self.id = id
        self.source = source
        self.type = type
        self.subject = subject
        self.time = time
        self.correlationID = correlationID
        self.traceparent = traceparent
    }

    /// The view that the message came from.
    package var origin: Origin {
        get { Origin(platform: platform, device: device, instance: instance) }
        set { (platform, device, instance) = (newValue.platform, newValue.device, newValue.instance) }
    }

    /// How long a command from a view is worth acting upon.
    public static let usualLifetime: Duration = .seconds(60)

    /// Lets a command from a view, one that carries a device, expire after ``usualLifetime``; anything else does not expire.
    public mutating func expireAsUsual() {
        expire(after: type.kind == .command && device != nil ? Self.usualLifetime : nil)
    }

    /// Lets the message be discarded once it is older than `lifetime`; nil keeps it for ever.
    ///
    /// A message that expires after the year 9999 is refused when it is published.
    public mutating func expire(after lifetime: Duration?) {
        expiryTime = lifetime.map { time.addingTimeInterval($0 / .seconds(1)) }
    }

    /// Whether the message is too old to be acted upon at `date`.
    public func isExpired(at date: Date = Date()) -> Bool {
        expiryTime.map { $0 < date } ?? false
    }
}

extension String {
    /// Whether it is short enough for an attribute.
    fileprivate var isAttribute: Bool { utf8.count <= Limits.attributeLength }
}

/// One user's app: the subject of its messages.
public enum Session {
    /// The subject of a message that does not say otherwise.
    public static let `default` = "default"
}

/// The view a message came from. Empty for a service or a tool.
public struct Origin: Hashable, Sendable {
    public var platform: String?
    public var device: String?
    /// The screen instance.
    public var instance: String?

    public init(platform: String? = nil, device: String? = nil, instance: String? = nil) {
        self.platform = platform
        self.device = device
        self.instance = instance
    }
}

/// Ids of messages: 64 random bits, made once a process, and a count. Unique, as CloudEvents demands of source and id
/// together, and made without a system call.
public enum MessageID {
    private static let process: String = {
        let text = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }()
    private static let count = Atomic<UInt64>(0)

    public static func make() -> String {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        return process + "-" + String(number, radix: 16)
    }
}
