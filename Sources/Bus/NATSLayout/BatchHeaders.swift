package import BusFormat
package import EventBus
package import Foundation
internal import Support

/// The id of a batch in the header `Nats-Msg-Id`. JetStream stores a message once if it comes again with the same id
/// within 2 minutes.
package enum BatchID: Hashable, Sendable, CustomStringConvertible {
    /// A batch of a producer, numbered from 1.
    case batch(ProducerID, number: UInt64)
    /// The batch that records a message of a durable consumer as handled. A batch that records no progress must not
    /// have this id: a second one would count as sent twice.
    case handled(ConsumerPartition, offset: UInt64, ownerGeneration: UInt64)
    /// A batch that withdraws leased documents of a producer.
    /// - Parameters:
    ///   - sequence: The sequence of the record that revoked the lease.
    ///   - part: A random number; nil for the batch after which everything is withdrawn.
    case withdrawal(ProducerID, sequence: UInt64, part: UUID? = nil)

    package var description: String {
        switch self {
        case .batch(let producer, let number): "\(producer.hexadecimal)-\(number)"
        case .handled(let owner, let offset, let ownerGeneration):
            "\(SubjectToken.encode(owner.consumer))/\(owner.partition.token)/\(offset)/\(ownerGeneration)"
        case .withdrawal(let producer, let sequence, let part):
            "lease-\(producer.hexadecimal)-\(sequence)" + (part.map { "-\($0.uuidString)" } ?? "")
        }
    }
}

/// The condition under which JetStream stores a message: the last message of a subject has this sequence.
package struct Expectation: Hashable, Sendable {
    /// Nil for the subject of the message itself.
    package let subject: String?
    /// 0 if the subject must have no message.
    package let sequence: UInt64

    package init(subject: String?, sequence: UInt64) {
        self.subject = subject
        self.sequence = sequence
    }
}

/// The progress of a durable consumer that a batch records.
package struct RecordedProgress: Hashable, Sendable {
    package let ownerGeneration: UInt64
    /// The offset up to which `partition` is handled.
    package let offset: UInt64
    /// The offset up to which all partitions of the owner are handled.
    package let settled: UInt64
    /// Nil if `offset` applies to all partitions of the owner.
    package let partition: Partition?
    /// The epoch of the journal to which the offsets belong. Nil if an earlier version has recorded them.
    package let epoch: UInt64?

    package init(
        ownerGeneration: UInt64, offset: UInt64, settled: UInt64, partition: Partition?, epoch: UInt64? = nil
    ) {
        self.epoch = epoch
        self.ownerGeneration = ownerGeneration
        self.offset = offset
        self.settled = settled
        self.partition = partition
    }

    /// Nil for a checkpoint that records no progress.
    package init?(_ checkpoint: Checkpoint) {
        guard !checkpoint.isGuard else { return nil }
        self.init(
            ownerGeneration: checkpoint.claim.ownerGeneration, offset: checkpoint.position.offset,
            settled: checkpoint.settled,
            partition: checkpoint.partition, epoch: checkpoint.claim.epoch)
    }

    fileprivate var text: String { "\(ownerGeneration)/\(offset)/\(settled)/\(partition?.token ?? "-")" }

    /// - Parameter epoch: The epoch as text; nil if an earlier version has recorded the progress.
    fileprivate init(_ text: String, epoch: String?) throws(ProtocolError) {
        let parts = text.split(scalar: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, let ownerGeneration = number(parts[0]), let offset = number(parts[1]),
            let settled = number(parts[2]), ownerGeneration <= GroupRecord.maximumOwnerGeneration
        else { throw BatchHeaders.error(.progress) }
        let partition = Partition(token: parts[3])
        guard partition != nil || parts[3] == "-" else { throw BatchHeaders.error(.progress) }
        let journalEpoch = JournalMetadata.epoch(epoch)
        guard epoch == nil || journalEpoch != nil else { throw BatchHeaders.error(.progressEpoch) }
        self.init(
            ownerGeneration: ownerGeneration, offset: offset, settled: settled, partition: partition,
            epoch: journalEpoch)
    }
}

/// The headers of a JetStream message that is one batch. A reader of headers alone gets the number of the messages, the
/// progress and the settled dead letters.
package struct BatchHeaders: Hashable, Sendable {
    package enum Name: String {
        case id = "Nats-Msg-Id"
        case expectedSequence = "Nats-Expected-Last-Subject-Sequence"
        case expectedSubject = "Nats-Expected-Last-Subject-Sequence-Subject"
        case batch = "Segue-Batch"
        case progress = "Segue-Progress"
        case progressEpoch = "Segue-Progress-Epoch"
        case rejection = "Segue-Rejection"
        case settles = "Segue-Settles"
        case lease = "Segue-Lease"
    }

    /// The ``MessageID``, as text. Empty if the message was stored without an id.
    package var id: String
    /// The number of messages; at most ``Limits/batchCount``.
    package var count: Int
    package var progress: RecordedProgress?
    /// True if the body also has a message that the consumer gives up.
    package var hasRejection: Bool
    /// The dead letters that the batch settles: the sequences of the batches that gave up the messages.
    package var resolvedDeadLetters: [Int64]
    /// The producer whose lease the documents of this batch belong to.
    package var lease: ProducerID?
    package var expectation: Expectation?

    package init(
        id: String, count: Int, progress: RecordedProgress? = nil, hasRejection: Bool = false,
        resolvedDeadLetters: [Int64] = [], lease: ProducerID? = nil, expectation: Expectation? = nil
    ) {
        self.id = id
        self.count = count
        self.progress = progress
        self.hasRejection = hasRejection
        self.resolvedDeadLetters = resolvedDeadLetters
        self.lease = lease
        self.expectation = expectation
    }

    /// The headers to send, in a fixed order.
    package var fields: [(name: String, value: String)] {
        var fields: [(String, String)] = []
        func add(_ name: Name, _ value: String?) {
            if let value { fields.append((name.rawValue, value)) }
        }
        add(.id, id.isEmpty ? nil : id)
        add(.expectedSequence, expectation.map { String($0.sequence) })
        add(.expectedSubject, expectation?.subject)
        add(.batch, String(count))
        add(.progress, progress?.text)
        add(.progressEpoch, progress?.epoch.map(JournalMetadata.text))
        add(.rejection, hasRejection ? "1" : nil)
        add(.settles, resolvedDeadLetters.isEmpty ? nil : resolvedDeadLetters.map { String($0) }.joined(separator: ","))
        add(.lease, lease?.hexadecimal)
        return fields
    }

    /// The size of the headers in the NATS protocol, in bytes.
    package var size: Int {
        fields.reduce("NATS/1.0\r\n\r\n".utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count + ": \r\n".utf8.count
        }
    }

    /// Reads the headers of a stored message. Other headers are ignored, so that a server may add some.
    /// - Throws: ``ProtocolError`` with code `malformed` or `tooLarge`.
    package init(fields: [String: String]) throws(ProtocolError) {
        try self.init { fields[$0.rawValue] }
    }

    /// Reads the headers of a stored message.
    /// - Parameter field: The value of a header; nil if there is none, or it is not needed.
    /// - Throws: ``ProtocolError`` with code `malformed` or `tooLarge`.
    package init(_ field: (Name) -> String?) throws(ProtocolError) {
        guard let count = field(.batch).flatMap({ number($0[...]) }) else { throw Self.error(.batch) }
        guard count <= UInt64(Limits.batchCount) else {
            throw ProtocolError(.tooLarge, "a batch has at most \(Limits.batchCount) messages")
        }
        var progress: RecordedProgress?
        if let text = field(.progress) { progress = try RecordedProgress(text, epoch: field(.progressEpoch)) }
        if let text = field(.rejection), text != "1" { throw Self.error(.rejection) }
        var lease: ProducerID?
        if let text = field(.lease) {
            lease = ProducerID(hexadecimal: text)
            if lease == nil { throw Self.error(.lease) }
        }
        var expectation: Expectation?
        if let text = field(.expectedSequence) {
            guard let sequence = number(text[...]) else { throw Self.error(.expectedSequence) }
            expectation = Expectation(subject: field(.expectedSubject), sequence: sequence)
        }
        self.init(
            id: field(.id) ?? "", count: Int(count), progress: progress, hasRejection: field(.rejection) != nil,
            resolvedDeadLetters: try Self.deadLetters(field(.settles)), lease: lease, expectation: expectation)
        guard !hasRejection || progress != nil else {
            throw ProtocolError(.malformed, "a rejection needs the progress of the rejected message")
        }
    }

    private static func deadLetters(_ text: String?) throws(ProtocolError) -> [Int64] {
        guard let text else { return [] }
        var deadLetters: [Int64] = []
        for part in text.split(scalar: ",", maxSplits: Limits.batchCount, omittingEmptySubsequences: false) {
            guard deadLetters.count < Limits.batchCount else {
                throw ProtocolError(.tooLarge, "a batch settles at most \(Limits.batchCount) dead letters")
            }
            guard let deadLetter = number(part).flatMap({ Int64(exactly: $0) }) else { throw Self.error(.settles) }
            deadLetters.append(deadLetter)
        }
        return deadLetters
    }

    fileprivate static func error(_ name: Name) -> ProtocolError {
        ProtocolError(.malformed, "the header '\(name.rawValue)' of a batch is missing or malformed")
    }
}

/// Reads a number of digits only, at most `Position.greatestOffset`. `UInt64("+1")` is 1, too.
private func number(_ text: Substring) -> UInt64? {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return Position.offset(text)
}
