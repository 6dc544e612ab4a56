internal import EventBus

/// A batch that is journalled all or not at all.
///
/// Frames: batch (producer, sequence, flags, count) | checkpoint | rejection | settled letters, each if the flags say so |
/// the messages, one behind the other, if there are any.
package struct PublishRequest: Hashable, Sendable {
    package let producer: ProducerID
    /// Counts the batches of the producer from 1. The broker takes exactly the next one.
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
    package let messages: [PublishedMessage]

    package init(
        producer: ProducerID, sequence: UInt64, isLeased: Bool = false, isTransient: Bool = false,
        checkpoint: CheckpointFrame? = nil, rejection: RejectionFrame? = nil, settledLetters: [Int64] = [],
        messages: [PublishedMessage]
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

    /// The same batch as another one of a producer.
    package func numbered(_ producer: ProducerID, _ sequence: UInt64) -> PublishRequest {
        PublishRequest(
            producer: producer, sequence: sequence, isLeased: isLeased, isTransient: isTransient,
            checkpoint: checkpoint, rejection: rejection, settledLetters: settledLetters, messages: messages)
    }

    /// Checks what a broker refuses, so that a client can tell before it sends.
    package func validate() throws(ProtocolError) {
        guard messages.count <= Limits.batchCount, settledLetters.count <= Limits.batchCount else {
            throw ProtocolError(.tooLarge, "a batch has at most \(Limits.batchCount) messages, not \(messages.count)")
        }
        for (index, message) in messages.enumerated() {
            // A batch is often of one topic: what was read once need not be read again.
            if index > 0, message.isLike(messages[index - 1]) { continue }
            let topic = try message.validatedForJournal()
            guard !isTransient || topic.type.kind != .document else {
                throw ProtocolError(.topic, "\(topic.type) cannot be transient: documents are retained")
            }
        }
    }

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let leased = Flags(rawValue: 1)
        static let checkpoint = Flags(rawValue: 2)
        static let rejection = Flags(rawValue: 4)
        static let settledLetters = Flags(rawValue: 8)
        static let transient = Flags(rawValue: 16)
        static let all: Flags = [.leased, .checkpoint, .rejection, .settledLetters, .transient]
    }

    private var flags: Flags {
        var flags: Flags = []
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
        if !messages.isEmpty {
            var writer = ByteWriter(capacity: messages.reduce(0) { $0 + $1.header.count + $1.data.count + 128 })
            messages.forEach { $0.write(to: &writer) }
            frames.append(writer.bytes)
        }
        return frames
    }

    package init(frames: ArraySlice<[UInt8]>) throws(ProtocolError) {
        var rest = frames
        var batch = ByteReader(try Self.next(&rest, "batch"))
        producer = try ProducerID(&batch)
        sequence = try batch.read()
        let flags = Flags(rawValue: try batch.read())
        let count = Int(try batch.read(UInt16.self))
        try batch.end()
        guard flags.isSubset(of: .all) else {
            throw ProtocolError(.malformed, "a batch has a flag that is not known")
        }
        guard count <= Limits.batchCount else {
            throw ProtocolError(.tooLarge, "a batch has at most \(Limits.batchCount) messages")
        }
        isLeased = flags.contains(.leased)
        isTransient = flags.contains(.transient)
        checkpoint = flags.contains(.checkpoint) ? try CheckpointFrame(try Self.next(&rest, "checkpoint")) : nil
        rejection = flags.contains(.rejection) ? try RejectionFrame(try Self.next(&rest, "rejection")) : nil
        settledLetters =
            flags.contains(.settledLetters) ? try Self.letters(try Self.next(&rest, "settled letters")) : []
        messages = count > 0 ? try Self.messages(count, try Self.next(&rest, "messages")) : []
        guard rest.isEmpty else { throw ProtocolError(.malformed, "publish has too many frames") }
        guard rejection == nil || checkpoint != nil else {
            throw ProtocolError(.malformed, "a rejection needs the checkpoint of what is rejected")
        }
        guard !isTransient || flags == .transient else {
            throw ProtocolError(.malformed, "a transient batch has nothing but messages")
        }
    }

    private static func next(_ frames: inout ArraySlice<[UInt8]>, _ name: String) throws(ProtocolError) -> [UInt8] {
        guard let frame = frames.popFirst() else {
            throw ProtocolError(.malformed, "publish lacks its frame '\(name)'")
        }
        return frame
    }

    private static func messages(_ count: Int, _ frame: [UInt8]) throws(ProtocolError) -> [PublishedMessage] {
        var reader = ByteReader(frame)
        var messages: [PublishedMessage] = []
        messages.reserveCapacity(count)
        for _ in 0..<count {
            messages.append(try PublishedMessage(&reader))
        }
        try reader.end()
        return messages
    }

    private static func letters(_ frame: [UInt8]) throws(ProtocolError) -> [Int64] {
        var reader = ByteReader(frame)
        var letters: [Int64] = []
        while !reader.isAtEnd {
            letters.append(Int64(bitPattern: try reader.read()))
        }
        guard !letters.isEmpty, letters.count <= Limits.batchCount else {
            throw ProtocolError(.tooLarge, "a batch settles 1 to \(Limits.batchCount) dead letters")
        }
        return letters
    }
}
