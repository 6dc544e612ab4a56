public import Foundation

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
    /// W3C Trace Context.
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

    /// Attributes of a first message, one that nothing caused.
    public init(
        type: MessageType, source: String, subject: String = Session.default,
        id: String = MessageID.make(),
        time: Date = Date()
    ) {
        self.id = id
        self.source = source
        self.type = type
        self.subject = subject
        self.time = time
        self.correlationID = id
    }

    /// Lets the message be discarded once it is older than `lifetime`; nil keeps it for ever.
    public mutating func expire(after lifetime: Duration?) {
        expiryTime = lifetime.map { time.addingTimeInterval($0 / .seconds(1)) }
    }

    /// Whether the message is too old to be acted upon at `date`.
    public func isExpired(at date: Date = Date()) -> Bool {
        expiryTime.map { $0 < date } ?? false
    }
}
