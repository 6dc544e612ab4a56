/// The last offset of every topic that has grown. Frames: extent (epoch, through) | one a topic (offset, name).
package struct Heads: Hashable, Sendable {
    package let epoch: UInt64
    /// The journal's end when this was said.
    package let through: UInt64
    package let offsets: [String: UInt64]

    package init(epoch: UInt64, through: UInt64, offsets: [String: UInt64]) {
        self.epoch = epoch
        self.through = through
        self.offsets = offsets
    }

    init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "heads lack their extent") }
        var extent = ByteReader(first)
        epoch = try extent.read()
        through = try extent.read()
        var offsets: [String: UInt64] = [:]
        for frame in frames.dropFirst() {
            var reader = ByteReader(frame)
            let offset: UInt64 = try reader.read()
            offsets[try reader.text()] = offset
        }
        self.offsets = offsets
    }

    var frames: [[UInt8]] {
        var extent = ByteWriter(capacity: 16)
        extent.write(epoch)
        extent.write(through)
        return [extent.bytes]
            + offsets.map { topic, offset in
                var writer = ByteWriter()
                writer.write(offset)
                writer.write(text: topic)
                return writer.bytes
            }
    }
}

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
