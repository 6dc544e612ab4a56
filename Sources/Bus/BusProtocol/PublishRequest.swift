/// A batch that is journalled all or not at all.
///
/// Frames: batch (producer, sequence, flags, count) | checkpoint, if the flags say so | four frames a message.
package struct PublishRequest: Hashable, Sendable {
    package let producer: ProducerID
    /// Counts the batches of the producer from 1. The broker takes exactly the next one.
    package let sequence: UInt64
    /// Documents of this batch are withdrawn when the producer stops answering.
    package let isLeased: Bool
    package let checkpoint: CheckpointFrame?
    package let messages: [PublishedMessage]

    package init(
        producer: ProducerID, sequence: UInt64, isLeased: Bool = false, checkpoint: CheckpointFrame? = nil,
        messages: [PublishedMessage]
    ) {
        self.producer = producer
        self.sequence = sequence
        self.isLeased = isLeased
        self.checkpoint = checkpoint
        self.messages = messages
    }

    private static let leasedFlag: UInt8 = 1
    private static let checkpointFlag: UInt8 = 2

    package var frames: [[UInt8]] {
        var batch = ByteWriter(capacity: 27)
        batch.write(bytes: producer.bytes)
        batch.write(sequence)
        batch.write((isLeased ? Self.leasedFlag : 0) | (checkpoint == nil ? 0 : Self.checkpointFlag))
        batch.write(UInt16(clamping: messages.count))
        return [batch.bytes] + (checkpoint.map { [$0.bytes] } ?? []) + messages.flatMap(\.frames)
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "publish lacks its batch frame") }
        var batch = ByteReader(first)
        producer = try ProducerID(&batch)
        sequence = try batch.read()
        let flags: UInt8 = try batch.read()
        let count = Int(try batch.read(UInt16.self))
        try batch.end()
        guard count <= Limits.batchCount else {
            throw ProtocolError(.tooLarge, "a batch has at most \(Limits.batchCount) messages")
        }
        isLeased = flags & Self.leasedFlag != 0
        var rest = frames.dropFirst()
        if flags & Self.checkpointFlag != 0 {
            guard let frame = rest.popFirst() else {
                throw ProtocolError(.malformed, "publish lacks its checkpoint frame")
            }
            checkpoint = try CheckpointFrame(frame)
        } else {
            checkpoint = nil
        }
        guard rest.count == count * PublishedMessage.frameCount else {
            throw ProtocolError(.malformed, "\(count) messages need \(count * PublishedMessage.frameCount) frames")
        }
        var messages: [PublishedMessage] = []
        for start in stride(from: rest.startIndex, to: rest.endIndex, by: PublishedMessage.frameCount) {
            messages.append(try PublishedMessage(frames: rest[start..<start + PublishedMessage.frameCount]))
        }
        self.messages = messages
    }
}
