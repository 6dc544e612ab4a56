package import BusFormat

/// The topic on which the broker answers one subscriber on the feed.
///
/// A client subscribes to its inbox last. The answer says that the client's earlier subscriptions are live. The topic
/// begins with `~`, which sorts after every letter: a SUB socket that reconnects repeats its subscriptions in
/// alphabetical order.
package enum Inbox {
    package static let mark = "~"
    /// The maximum length of the topic in bytes. The broker does not answer on a longer one.
    package static let maximumLength = 64
    /// The number of digits of a client.
    private static let clientLength = 32

    /// The prefix of all inboxes of a client. The client is always subscribed to this prefix. After a reconnection the
    /// broker answers it again.
    package static func prefix(of client: ProducerID) -> String {
        "\(mark)\(client.hexadecimal)."
    }

    /// True if a topic is that of one client's inboxes, or of one of them.
    package static func isTopic(_ topic: [UInt8]) -> Bool {
        let place = mark.utf8.count + clientLength
        return topic.starts(with: mark.utf8) && topic.count > place && topic[place] == UInt8(ascii: ".")
    }

    /// Returns the frames of the broker's answer: the topic, then the epoch (8) and the last offset (8) of the journal.
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
        return (topic, try position.read(), try position.number())
    }
}
