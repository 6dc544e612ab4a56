/// The topic on which the broker answers one subscriber on the feed.
///
/// A subscription to it, made last, tells that all made before are live: XPUB handles the subscriptions of one connection in
/// order. It begins with `~`, behind every letter, because a reconnecting SUB socket repeats its subscriptions in
/// alphabetical order and this one must stay the last.
package enum Inbox {
    package static let mark = "~"
    /// An inbox longer than this is not answered.
    package static let maximumLength = 64

    /// The prefix of all inboxes of a client; subscribed always, so that a reconnection is noticed.
    package static func prefix(of client: ProducerID) -> String {
        "\(mark)\(client.hexadecimal)."
    }

    /// What the broker says there: the journal and its end at that moment.
    package static func answer(topic: [UInt8], epoch: UInt64, head: UInt64) -> [[UInt8]] {
        var position = ByteWriter(capacity: 16)
        position.write(epoch)
        position.write(head)
        return [topic, position.bytes]
    }

    package static func readAnswer(_ frames: [[UInt8]]) throws(ProtocolError) -> (
        topic: String, epoch: UInt64, head: UInt64
    ) {
        guard frames.count == 2, let topic = String(validating: frames[0], as: UTF8.self) else {
            throw ProtocolError(.malformed, "an inbox answer has two frames: topic and position")
        }
        var position = ByteReader(frames[1])
        return (topic, try position.read(), try position.read())
    }
}
