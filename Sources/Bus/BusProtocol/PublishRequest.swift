internal import EventBus

/// A batch that is journalled all or not at all.
///
/// Frames: batch (producer, sequence, flags, count) | checkpoint | rejection | settled letters, each if the flags say so |
/// the messages, one behind the other, if there are any.
package struct PublishRequest: Hashable, Sendable {
    package let producer: ProducerID
    /// Counts the batches of the producer from 1. The broker takes exactly the next one. Transient batches have a count of
    /// their own, since no journal keeps it: the broker takes any that is later than the last.
    package let sequence: UInt64
    /// Documents of this batch are withdrawn when the producer stops answering.
    package let isLeased: Bool
    /// The messages go to the feed only.
    package let isTransient: Bool
    package let checkpoint: CheckpointFrame?
    /// The message of the checkpoint becomes a dead letter.
    package let rejection: RejectionFrame?
    /// Dead letters that go.
    package let settledLetters: [Int64]
    package let messages: PackedMessages

    package init(
        producer: ProducerID, sequence: UInt64, isLeased: Bool = false, isTransient: Bool = false,
        checkpoint: CheckpointFrame? = nil, rejection: RejectionFrame? = nil, settledLetters: [Int64] = [],
        messages: PackedMessages
    ) {
        self.producer = producer
        self.sequence = sequence
        self.isLeased = isLeased
        self.isTransient = isTransient
        self.checkpoint = checkpoint
        self.rejection = rejection
        self.settledLetters = settledLetters
        self.messages = messages
    }

    /// As the designated initialiser, for messages that stand alone.
    package init(
        producer: ProducerID, sequence: UInt64, isLeased: Bool = false, isTransient: Bool = false,
        checkpoint: CheckpointFrame? = nil, rejection: RejectionFrame? = nil, settledLetters: [Int64] = [],
        messages: [PublishedMessage]
    ) {
        self.init(
            producer: producer, sequence: sequence, isLeased: isLeased, isTransient: isTransient,
            checkpoint: checkpoint, rejection: rejection, settledLetters: settledLetters,
            messages: PackedMessages(messages))
    }

    /// The same batch as another one of a producer.
    package func numbered(_ producer: ProducerID, _ sequence: UInt64) -> PublishRequest {
        PublishRequest(
            producer: producer, sequence: sequence, isLeased: isLeased, isTransient: isTransient,
            checkpoint: checkpoint, rejection: rejection, settledLetters: settledLetters, messages: messages)
    }

    /// Checks what would end the connection, so that a client can tell before it sends.
    package func validate() throws(ProtocolError) {
        guard messages.bytes.count <= Limits.maximumFrameSize else {
            throw ProtocolError(.tooLarge, "the messages of a batch exceed \(Limits.maximumFrameSize) bytes together")
        }
    }

    private var flags: BatchHead.Flags {
        var flags: BatchHead.Flags = []
        if isLeased { flags.insert(.leased) }
        if checkpoint != nil { flags.insert(.checkpoint) }
        if rejection != nil { flags.insert(.rejection) }
        if !settledLetters.isEmpty { flags.insert(.settledLetters) }
        if isTransient { flags.insert(.transient) }
        return flags
    }

    package var frames: [[UInt8]] {
        var batch = ByteWriter(capacity: 27)
        batch.write(bytes: producer.bytes)
        batch.write(sequence)
        batch.write(flags.rawValue)
        batch.write(UInt16(clamping: messages.count))
        var frames = [batch.bytes]
        if let checkpoint { frames.append(checkpoint.bytes) }
        if let rejection { frames.append(rejection.bytes) }
        if !settledLetters.isEmpty {
            var letters = ByteWriter(capacity: settledLetters.count * 8)
            settledLetters.forEach { letters.write(UInt64(bitPattern: $0)) }
            frames.append(letters.bytes)
        }
        if messages.count > 0 { frames.append(messages.bytes) }
        return frames
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        let head = try BatchHead(frames: frames)
        let content = try BatchContent(of: head)
        self.init(
            producer: head.producer, sequence: head.sequence, isLeased: head.isLeased, isTransient: head.isTransient,
            checkpoint: content.checkpoint, rejection: content.rejection, settledLetters: content.settledLetters,
            messages: try PackedMessages(content.messages, count: head.count))
    }
}
