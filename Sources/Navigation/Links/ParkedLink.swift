/// A deep link that waits until it can be followed.
public struct ParkedLink: Codable, Hashable, Sendable {
    /// The URL.
    public var url: String
    /// The message that brought it.
    public var messageID: String
    /// When it stops waiting, in milliseconds since 1970.
    public var expires: Int

    /// Makes a parked link.
    public init(url: String, messageID: String, expires: Int) {
        self.url = url
        self.messageID = messageID
        self.expires = expires
    }

    /// Says that it is not followed any more.
    func discarded(_ reason: String) -> Machine.Effect {
        .messageDiscarded(messageID: messageID, reason: "\(Machine.deepLinkReceived): \(reason)")
    }
}
