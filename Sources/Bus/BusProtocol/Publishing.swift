package import BusFormat
package import EventBus

/// A batch. Unless it is transient, the journal records all of it or nothing.
///
/// Frames: batch (producer, sequence, flags, count) | checkpoint | rejection | resolved dead letters, each if its flag
/// is set | the messages, one after another, if there are any.
package struct PublishRequest: Hashable, Sendable {
    package let producer: ProducerID
    /// The number of the batch, counted from 1 for each producer. The broker records only the batch with the next
    /// number. Transient batches are counted separately; among them the broker accepts every number that is higher than
    /// the previous one.
    package let sequence: UInt64
    /// True if the documents of this batch are withdrawn when the producer ends or falls silent.
    package let isLeased: Bool
    /// True if the messages are sent on the feed only and are not recorded.
    package let isTransient: Bool
    package let checkpoint: CheckpointFrame?
    /// The reason for giving up the message of the checkpoint, which is moved to the dead letters; nil if no message is
    /// given up.
    package let rejection: RejectionFrame?
    /// The ids of the dead letters that this batch removes.
    package let resolvedDeadLetters: [Int64]
    package let messages: PackedMessages

    package init(
        producer: ProducerID, sequence: UInt64, isLeased: Bool = false, isTransient: Bool = false,
        checkpoint: CheckpointFrame? = nil, rejection: RejectionFrame? = nil, resolvedDeadLetters: [Int64] = [],
        messages: PackedMessages
    ) {
        self.producer = producer
        self.sequence = sequence
        self.isLeased = isLeased
        self.isTransient = isTransient
        self.checkpoint = checkpoint
        self.rejection = rejection
        self.resolvedDeadLetters = resolvedDeadLetters
        self.messages = messages
    }

    /// Creates a batch of messages that are not packed yet.
    package init(
        producer: ProducerID, sequence: UInt64, isLeased: Bool = false, isTransient: Bool = false,
        checkpoint: CheckpointFrame? = nil, rejection: RejectionFrame? = nil, resolvedDeadLetters: [Int64] = [],
        messages: [PublishedMessage]
    ) {
        self.init(
            producer: producer, sequence: sequence, isLeased: isLeased, isTransient: isTransient,
            checkpoint: checkpoint, rejection: rejection, resolvedDeadLetters: resolvedDeadLetters,
            messages: PackedMessages(messages))
    }

    /// Returns a copy of the batch with another producer and sequence.
    package func numbered(_ producer: ProducerID, _ sequence: UInt64) -> PublishRequest {
        PublishRequest(
            producer: producer, sequence: sequence, isLeased: isLeased, isTransient: isTransient,
            checkpoint: checkpoint, rejection: rejection, resolvedDeadLetters: resolvedDeadLetters, messages: messages)
    }

    /// Checks the size of the frame with the messages. A client calls this before it sends the batch.
    package func validate() throws(ProtocolError) {
        guard messages.bytes.count <= Limits.maximumFrameSize else {
            throw ProtocolError(
                .tooLarge, "the messages of a batch exceed \(Limits.maximumFrameSize) bytes together; split it")
        }
    }

    private var flags: BatchHead.Flags {
        var flags: BatchHead.Flags = []
        if isLeased { flags.insert(.leased) }
        if checkpoint != nil { flags.insert(.checkpoint) }
        if rejection != nil { flags.insert(.rejection) }
        if !resolvedDeadLetters.isEmpty { flags.insert(.resolvedDeadLetters) }
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
        if !resolvedDeadLetters.isEmpty {
            var deadLetters = ByteWriter(capacity: resolvedDeadLetters.count * 8)
            resolvedDeadLetters.forEach { deadLetters.write(UInt64(bitPattern: $0)) }
            frames.append(deadLetters.bytes)
        }
        if messages.count > 0 { frames.append(messages.bytes) }
        return frames
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        let head = try BatchHead(frames: frames)
        let content = try BatchContent(of: head)
        self.init(
            producer: head.producer, sequence: head.sequence, isLeased: head.isLeased, isTransient: head.isTransient,
            checkpoint: content.checkpoint, rejection: content.rejection,
            resolvedDeadLetters: content.resolvedDeadLetters,
            messages: try PackedMessages(content.messages, count: head.count))
    }
}

/// The first frame of a batch. ``BatchContent`` parses the other frames.
package struct BatchHead: Hashable, Sendable {
    package let producer: ProducerID
    package let sequence: UInt64
    fileprivate let flags: Flags
    /// The number of messages.
    package let count: Int
    /// The frames after the first.
    fileprivate let rest: ArraySlice<[UInt8]>

    struct Flags: OptionSet, Hashable {
        let rawValue: UInt8
        static let leased = Flags(rawValue: 1)
        static let checkpoint = Flags(rawValue: 2)
        static let rejection = Flags(rawValue: 4)
        static let resolvedDeadLetters = Flags(rawValue: 8)
        static let transient = Flags(rawValue: 16)
        static let all: Flags = [.leased, .checkpoint, .rejection, .resolvedDeadLetters, .transient]
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        guard let first = frames.first else { throw ProtocolError(.malformed, "publish lacks its frame 'batch'") }
        var reader = ByteReader(first)
        producer = try ProducerID(&reader)
        sequence = try reader.read()
        flags = Flags(rawValue: try reader.read())
        count = Int(try reader.read(UInt16.self))
        try reader.end()
        rest = frames.dropFirst()
    }

    package var isLeased: Bool { flags.contains(.leased) }
    package var isTransient: Bool { flags.contains(.transient) }
}

/// The frames after the ``BatchHead``. The messages are not parsed here: the broker records them directly from the
/// received frame.
package struct BatchContent: Hashable, Sendable {
    package let checkpoint: CheckpointFrame?
    package let rejection: RejectionFrame?
    package let resolvedDeadLetters: [Int64]
    /// The messages, one after another.
    package let messages: [UInt8]

    package init(of head: BatchHead) throws(ProtocolError) {
        let flags = head.flags
        guard flags.isSubset(of: .all) else {
            throw ProtocolError(.malformed, "a batch has an unknown flag")
        }
        guard head.count <= Limits.batchCount else {
            throw ProtocolError(.tooLarge, "a batch has at most \(Limits.batchCount) messages")
        }
        var rest = head.rest
        checkpoint = flags.contains(.checkpoint) ? try CheckpointFrame(try Self.next(&rest, "checkpoint")) : nil
        rejection = flags.contains(.rejection) ? try RejectionFrame(try Self.next(&rest, "rejection")) : nil
        resolvedDeadLetters =
            flags.contains(.resolvedDeadLetters)
            ? try Self.deadLetters(try Self.next(&rest, "resolved dead letters")) : []
        messages = head.count > 0 ? try Self.next(&rest, "messages") : []
        guard rest.isEmpty else { throw ProtocolError(.malformed, "publish has too many frames") }
        guard rejection == nil || checkpoint != nil else {
            throw ProtocolError(.malformed, "a rejection needs the checkpoint of the rejected message")
        }
        guard !head.isTransient || flags == .transient else {
            throw ProtocolError(.malformed, "a transient batch may contain only messages")
        }
    }

    private static func next(_ frames: inout ArraySlice<[UInt8]>, _ name: String) throws(ProtocolError) -> [UInt8] {
        guard let frame = frames.popFirst() else {
            throw ProtocolError(.malformed, "publish lacks its frame '\(name)'")
        }
        return frame
    }

    private static func deadLetters(_ frame: [UInt8]) throws(ProtocolError) -> [Int64] {
        var reader = ByteReader(frame)
        var deadLetters: [Int64] = []
        while !reader.isAtEnd {
            deadLetters.append(Int64(bitPattern: try reader.read()))
        }
        guard !deadLetters.isEmpty, deadLetters.count <= Limits.batchCount else {
            throw ProtocolError(.tooLarge, "a batch settles 1 to \(Limits.batchCount) dead letters")
        }
        return deadLetters
    }
}

/// The progress of a durable consumer, recorded together with the messages that it publishes.
/// As bytes: consumer (text) | owner generation, epoch, offset, settled (8 each) | partition (1), ff for all owned
/// partitions | previous (8), optional.
package struct CheckpointFrame: Hashable, Sendable {
    package let consumer: String
    /// The owner generation of the claim. A checkpoint is refused if its partition has another owner generation.
    package let ownerGeneration: UInt64
    package let epoch: UInt64
    package let offset: UInt64
    /// The offset up to which all owned partitions are handled.
    package let settled: UInt64
    /// The partition of the message at `offset`; nil for all owned partitions.
    package let partition: Partition?
    /// The offset that must already be recorded for the partition; nil if the broker must not check this.
    package let previous: UInt64?

    private static let allPartitions: UInt8 = 0xff

    package init(
        consumer: String, ownerGeneration: UInt64, epoch: UInt64, offset: UInt64, settled: UInt64,
        partition: Partition?,
        previous: UInt64? = nil
    ) {
        self.consumer = consumer
        self.ownerGeneration = ownerGeneration
        self.epoch = epoch
        self.offset = offset
        self.settled = settled
        self.partition = partition
        self.previous = previous
    }

    package init(_ frame: [UInt8]) throws(ProtocolError) {
        var reader = ByteReader(frame)
        consumer = try reader.consumer()
        ownerGeneration = try reader.number()
        epoch = try reader.read()
        offset = try reader.number()
        settled = try reader.number()
        let number: UInt8 = try reader.read()
        partition = Partition(number)
        guard partition != nil || number == Self.allPartitions else {
            throw ProtocolError(.malformed, "partition \(number) does not exist")
        }
        previous = reader.isAtEnd ? nil : try reader.number()
        try reader.end()
    }

    package var admission: CheckpointAdmission {
        CheckpointAdmission(
            consumer: consumer, ownerGeneration: ownerGeneration, position: Position(epoch: epoch, offset: offset),
            settled: settled, partition: partition, previous: previous)
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(text: consumer)
        writer.write(ownerGeneration)
        writer.write(epoch)
        writer.write(offset)
        writer.write(settled)
        writer.write(partition?.number ?? Self.allPartitions)
        if let previous { writer.write(previous) }
        return writer.bytes
    }
}
