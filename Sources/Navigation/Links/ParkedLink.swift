/// A deep link that waits until it can be followed.
public struct ParkedLink: Codable, Hashable, Sendable {
    /// The URL.
    public var url: String
    /// The message that brought it.
    public var messageID: String
    /// When it stops waiting, in milliseconds since 1970.
    public var expires: Int
    /// The messages that waited for an answer, or for that, when it came; nil for none. What they lead to is older than
    /// the link.
    public var older: [String]?

    /// Makes a parked link.
    public init(url: String, messageID: String, expires: Int, older: [String]? = nil) {
        self.url = url
        self.messageID = messageID
        self.expires = expires
        self.older = older
    }

    init(url: String, messageID: String, expires: Int, waiting: Attempt?) {
        let older = waiting.map { attempt in [attempt.message.id] + attempt.queue.map(\.id) }
        self.init(url: url, messageID: messageID, expires: expires, older: older)
    }

    /// Says that it is not followed any more.
    func discarded(_ reason: String) -> Machine.Effect {
        .messageDiscarded(messageID: messageID, reason: "\(Machine.deepLinkReceived): \(reason)")
    }
}
