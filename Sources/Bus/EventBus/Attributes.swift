public import Foundation
public import Support
internal import Synchronization

/// The metadata of a message: the attributes of CloudEvents 1.0 and the extensions of this project.
///
/// The names on the wire are in lower case, as CloudEvents requires.
public struct Attributes: Hashable, Sendable {
    public var id: String
    /// The process that published the message: `name/instance`, or `broker` if the broker has withdrawn a document.
    public var source: String
    public var type: MessageType
    /// The session, that is one user's app.
    public var subject: String
    public var time: Date
    /// The id of the first message of the story. A story is a message without a cause, and all messages that it caused
    /// directly or indirectly.
    public var correlationID: String
    /// The id of the message that directly caused this one; nil if there is none.
    public var causationID: String?
    /// The message's context in a trace, see ``TraceContext``. Nil if the message was received without it.
    public var traceparent: String?
    /// The time at which the command expires; nil if it does not expire.
    public var expiryTime: Date?
    /// The platform of the view that the message came from, such as `ios`; nil if there is none.
    public var platform: String?
    /// The device of the view that the message came from; nil if there is none.
    public var device: String?
    /// The screen instance that the message came from; nil if there is none.
    public var instance: String?
    /// Distinguishes documents of the same type and subject. Nil for a message without a key, see ``Message/key``.
    public var key: String?
    /// The only durable consumer that handles the message; nil if every durable consumer of the type does. It is set on
    /// a dead letter that is sent again.
    public var recipient: String?
}

// In an extension, so that the struct keeps its memberwise initializer.
extension Attributes {
    /// Creates the attributes of a message without a cause. The message begins a story and a trace.
    public init(
        type: MessageType, source: String, subject: String = Session.default,
        id: String = MessageID.make(),
        time: Date = Timestamp.now
    ) {
        self.init(
            id: id, source: source, type: type, subject: subject, time: time, correlationID: id,
            traceparent: TraceContext().text)
    }

    /// Creates the attributes of a message that another message caused. The new message has the subject and the story
    /// of its cause, and also its trace if the cause has a readable ``traceparent``.
    ///
    /// Attributes longer than 255 bytes are not inherited.
    /// - Parameter origin: The view that the message concerns; if nil, the view of the cause.
    public init(
        type: MessageType, source: String, causedBy cause: Attributes, origin: Origin? = nil,
        id: String = MessageID.make(), time: Date = Timestamp.now
    ) {
        let story = [cause.correlationID, cause.id].first(where: \.isAttribute) ?? id
        let trace = cause.traceparent.flatMap(TraceContext.init(parsing:))?.next ?? TraceContext(story: story)
        let origin = origin ?? cause.origin
        self.init(
            id: id, source: source, type: type, subject: cause.subject, time: time, correlationID: story,
            causationID: cause.id.isAttribute ? cause.id : nil, traceparent: trace.text,
            platform: origin.platform.flatMap { $0.isAttribute ? $0 : nil },
            device: origin.device.flatMap { $0.isAttribute ? $0 : nil },
            instance: origin.instance.flatMap { $0.isAttribute ? $0 : nil })
    }

    /// The view that the message came from.
    package var origin: Origin {
        get { Origin(platform: platform, device: device, instance: instance) }
        set { (platform, device, instance) = (newValue.platform, newValue.device, newValue.instance) }
    }

    /// The time after which a command from a view expires by default: 60 s.
    public static let usualLifetime: Duration = .seconds(60)

    /// Makes a command from a view, that is a command with a device, expire after ``usualLifetime``. Any other message
    /// does not expire.
    public mutating func expireAsUsual() {
        expire(after: type.kind == .command && device != nil ? Self.usualLifetime : nil)
    }

    /// Makes the message expire when it is older than `lifetime`, or never if `lifetime` is nil.
    ///
    /// A bus refuses to publish a message that expires after the year 9999.
    public mutating func expire(after lifetime: Duration?) {
        expiryTime = lifetime.map { time.addingTimeInterval($0 / .seconds(1)) }
    }

    /// True if the message has expired at `date`.
    public func isExpired(at date: Date = Date()) -> Bool {
        expiryTime.map { $0 < date } ?? false
    }
}

extension String {
    /// True if the string is short enough for an attribute.
    fileprivate var isAttribute: Bool { utf8.count <= Limits.attributeLength }
}

/// The names of sessions. A session is one user's app; its name is the subject of the app's messages.
public enum Session {
    /// The subject of a message if no other is given.
    public static let `default` = "default"

    /// The reason why no message can have this subject, or why people cannot read the name: one line. Nil for the name of
    /// a session.
    package static func refusal(of name: String) -> String? {
        guard !name.isEmpty, !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return "the name of a session has at least one character, and no control characters" }
        do {
            try Rules.check(MessageType(kind: .document, name: "Presence"), subject: name)
        } catch {
            return "a session cannot have this name: \(error.message)"
        }
        return nil
    }
}

/// The view that a message came from, or that it concerns. All fields are nil if there is none.
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

/// Generates message ids: 64 random bits, drawn once per process, and a counter.
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
