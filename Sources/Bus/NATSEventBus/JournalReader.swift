internal import BusProtocol
internal import DequeModule
internal import EventBus
internal import Foundation
internal import Logging
internal import NATS
internal import NATSLayout
internal import Support
internal import Synchronization

/// A subscription to the journal: the messages that filters select, in the order of the stream.
///
/// ``run()`` reads the journal into a buffer, and ``next()`` takes from it.
final class JournalReader: Sendable {
    /// The part of the journal that a subscription reads.
    struct Range: Sendable {
        var epoch: UInt64
        /// The offset after which the subscription begins.
        var start: UInt64
        /// The offset after which it ends; nil for no end.
        var end: UInt64?
        /// The documents to deliver before.
        var retained: [Envelope] = []
    }

    private let journal: Journal
    private let filters: [MessageFilter]
    private let patterns: [String]
    private let range: Range
    private let skipped: SkippedMessages
    private let onNotice: (@Sendable (SubscriptionNotice) -> Void)?
    private let buffer: SubscriptionBuffer
    /// The messages that were taken from the buffer.
    private let ahead: Mutex<Deque<Envelope>>

    /// - Parameter partitions: Only messages of these partitions are needed. The server can send others nevertheless.
    init(
        _ journal: Journal, filters: [MessageFilter], partitions: Set<Partition>? = nil, range: Range,
        skipped: SkippedMessages, onNotice: (@Sendable (SubscriptionNotice) -> Void)?
    ) {
        self.journal = journal
        self.filters = filters
        self.range = range
        self.skipped = skipped
        self.onNotice = onNotice
        patterns = SubjectFilters(filters, partitions: partitions).texts(in: journal.names.namespace)
        buffer = SubscriptionBuffer(received: Place.start(after: range.start) - 1)
        ahead = Mutex(Deque(range.retained))
    }

    // MARK: Reading the journal

    /// Reads the journal until the end of the subscription, or until the task is cancelled.
    func run() async {
        do {
            try await read()
            buffer.finish()
        } catch {
            buffer.finish(throwing: error)
        }
    }

    private func read() async throws {
        let reader = BatchReader(
            journal, patterns: patterns, after: range.start, until: range.end, epoch: range.epoch)
        // A subscription from the beginning starts at the oldest message that retention has kept.
        var isFirst = range.start == 0
        if let onNotice {
            reader.willBegin = { tracker in
                let removed = try await self.noteRemoved(&tracker)
                if let removed, !isFirst { removed.forEach(onNotice) }
                isFirst = false
            }
        }
        try await reader.read { message in
            isFirst = false
            journal.see(UInt64(clamping: message.streamSequence), of: reader.epoch)
            try await buffer.put(
                JournalBatch(message: message, epoch: reader.epoch, start: reader.start, end: range.end ?? .max))
            return true
        }
    }

    /// Moves the reader to the first batch of the stream.
    /// - Returns: The notices for what was removed before; nil if nothing was.
    ///
    /// The removed messages themselves are unknown. The type table says which types have had messages after the reader's
    /// place; without it there is no notice.
    private func noteRemoved(_ tracker: inout ReadTracker) async throws -> [SubscriptionNotice]? {
        let received = tracker.received
        let first = try await journal.jetStream.nextMessage(
            of: journal.names.journal, subject: journal.names.batches, from: 1)
        guard let first, let through = tracker.note(firstSequence: UInt64(clamping: first.sequence)) else {
            return nil
        }
        return try await journal.typeTable().newest(matching: filters).compactMap { type, newest in
            newest > received ? .removed(type, through: min(newest, through)) : nil
        }
    }

    // MARK: Transient messages

    /// True if transient messages can match. Documents are never transient.
    private var takesTransientMessages: Bool { filters.contains { $0.kind != .document } }

    private static let transientLimit = 4096
    /// The maximum time for which a transient message waits for the journal.
    private static let longestHold = Duration.seconds(1)

    /// Receives transient messages until the task is cancelled.
    /// - Parameter whenLive: Called when the server knows the subscription.
    func receiveTransientMessages(whenLive: @Sendable () -> Void) async throws {
        guard takesTransientMessages else { return whenLive() }
        let subject = "\(journal.names.namespace).t.>"
        do {
            try await journal.connection.withSubscription(to: subject, limit: Self.transientLimit) { subscription in
                whenLive()
                try await withThrowingDiscardingTaskGroup { group in
                    while true {
                        guard case .message(let message) = try await subscription.next() else { continue }
                        guard let place = TransientPlace(message) else {
                            skipped.note("a transient message on '\(message.subject)' has no valid headers")
                            continue
                        }
                        // A message of another journal is not held.
                        let sequence = place.epoch == range.epoch ? place.sequence : 0
                        guard let gap = buffer.put(message, after: sequence) else { continue }
                        group.addTask { try await self.release(gap) }
                    }
                }
            }
        } catch let error as NATSError {
            whenLive()
            buffer.finish(throwing: BusError(error))
        }
    }

    /// Releases the transient messages that are held until the end of a range of sequences. If the range has a message
    /// for this subscription, waits for it, but not for long.
    private func release(_ gap: ClosedRange<UInt64>) async throws {
        let waits = try? await journal.hasBatches(matching: patterns, from: gap.lowerBound, through: gap.upperBound)
        if waits != false { try await Task.sleep(for: Self.longestHold) }
        buffer.release(through: gap.upperBound)
    }

    // MARK: The subscriber

    /// Waits for the next message; nil at the end.
    func next() async throws -> Envelope? {
        while true {
            try Task.checkCancellation()
            if let envelope = ahead.withLock({ $0.popFirst() }) { return envelope }
            guard let items = try await buffer.take() else { return nil }
            let envelopes = items.flatMap(envelopes)
            ahead.withLock { $0.append(contentsOf: envelopes) }
        }
    }

    /// Waits for the next message that a claim covers; nil when the claim may no longer be valid.
    func next(under watch: ClaimWatch) async throws -> Envelope? {
        while !watch.isEnded {
            if ahead.withLock(\.isEmpty), let sequence = buffer.drainedSequence {
                watch.noteWaiting(after: Place.end(of: sequence))
            }
            guard let message = try await next() else { return nil }
            if watch.takes(message) { return message }
        }
        return nil
    }

    /// Ends the subscription.
    func finish() { buffer.finish() }

    private func envelopes(of item: SubscriptionBuffer.Item) -> [Envelope] {
        let messages: [BatchMessage.Stored]
        let isTransient: Bool
        do {
            switch item {
            case .batch(let batch): (messages, isTransient) = (try batch.messages(), false)
            case .transient(let message): (messages, isTransient) = (try message.transientMessages(), true)
            }
        } catch {
            skipped.note("\(item.place) is not a batch: \(error)")
            return []
        }
        return messages.compactMap { stored in
            do {
                var envelope = try stored.envelope()
                if isTransient { envelope.position = nil }
                return filters.contains { $0.matches(envelope) } ? envelope : nil
            } catch {
                skipped.note("\(item.place): \(error)")
                return nil
            }
        }
    }
}

extension SubscriptionBuffer.Item {
    /// The place of the message, for the log.
    fileprivate var place: String {
        switch self {
        case .batch(let batch): "message \(batch.sequence) on '\(batch.message.subject)'"
        case .transient(let message): "a transient message on '\(message.subject)'"
        }
    }
}

/// The place in the journal after which a transient batch was published: the last batch that its publisher knew.
struct TransientPlace: Hashable, Sendable {
    private static let header = "Segue-After"

    let epoch: UInt64
    let sequence: UInt64

    init(epoch: UInt64, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    fileprivate init?(_ message: NATSMessage) {
        let numbers = (message.header(Self.header) ?? "").split(separator: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2, let epoch = UInt64(numbers[0]), let sequence = UInt64(numbers[1]),
            sequence <= Place.maximumSequence
        else { return nil }
        self.init(epoch: epoch, sequence: sequence)
    }

    /// The headers of a transient batch.
    func headers(count: Int) -> NATSHeaders {
        [BatchHeaders.Name.batch.rawValue: String(count), Self.header: "\(epoch)/\(sequence)"]
    }
}

extension NATSMessage {
    /// The messages of a transient batch. Their positions have no meaning.
    /// - Throws: ``ProtocolError`` if the batch is damaged.
    fileprivate func transientMessages() throws -> [BatchMessage.Stored] {
        let fields = [BatchHeaders.Name.batch.rawValue: header(BatchHeaders.Name.batch.rawValue) ?? ""]
        return try BatchMessage(fields: fields, body: body).content(at: 1, of: 0).messages
    }
}
