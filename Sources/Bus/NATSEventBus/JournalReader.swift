internal import BusFormat
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
/// ``run()`` reads the journal into a buffer, and ``next()`` dequeues from it.
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
        /// The part of the next epoch that the subscription reads, if the journal loses its end.
        var restart = Restart.ends
    }

    /// What a subscription reads in a new epoch.
    enum Restart: Sendable {
        /// Nothing.
        case ends
        /// Everything.
        case beginning
        /// What follows the messages that both epochs have.
        case fork
        /// The retained documents, then what follows the messages that both epochs have.
        case retained
    }

    private let journal: JournalConnection
    private let filters: [MessageFilter]
    private let patterns: [String]
    private let range: Range
    private let skipped: SkippedMessages
    private let onNotice: (@Sendable (SubscriptionNotice) -> Void)?
    private let buffer: SubscriptionBuffer
    /// The messages that were dequeued from the buffer. Only the task of the subscriber uses them.
    private let ahead: Mutex<Ahead>
    /// The sequence received and the end of the journal at the last check for idle progress, if the reader had nothing
    /// to receive between them.
    private let lastCheck = Mutex<(received: UInt64, end: UInt64)?>(nil)

    /// - Parameter partitions: Only messages of these partitions are needed. The server can send others nevertheless.
    init(
        _ journal: JournalConnection, filters: [MessageFilter], partitions: Set<Partition>? = nil, range: Range,
        skipped: SkippedMessages, onNotice: (@Sendable (SubscriptionNotice) -> Void)?
    ) {
        self.journal = journal
        self.filters = filters
        self.range = range
        self.skipped = skipped
        self.onNotice = onNotice
        patterns = SubjectFilters(filters, partitions: partitions).texts(in: journal.names.namespace)
        buffer = SubscriptionBuffer(epoch: range.epoch, after: range.start)
        ahead = Mutex(Ahead(documents: Deque(range.retained)))
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
                let removed = try await self.handleRemoval(&tracker)
                if let removed, !isFirst { removed.forEach(onNotice) }
                isFirst = false
            }
        }
        if range.restart != .ends {
            reader.willRestart = { identity, former in
                // A subscription that starts again gets no notice for what retention had removed before.
                isFirst = true
                return try await self.restart(in: identity, after: former)
            }
        }
        func receive(_ message: DeliveredMessage) -> JournalBatch {
            isFirst = false
            journal.see(UInt64(clamping: message.streamSequence), at: message.time, of: reader.epoch)
            return JournalBatch(message: message, epoch: reader.epoch, start: reader.start, end: range.end ?? .max)
        }
        let handleAtOnce = { (message: DeliveredMessage) in self.buffer.putIfRoom(receive(message)) }
        try await reader.read(handlingAtOnce: range.end == nil ? handleAtOnce : nil) { message in
            guard !buffer.hasEnded else { return .stop }
            let hasWaited = try await buffer.put(receive(message))
            guard hasWaited, onNotice != nil else { return .goOn }
            // While a slow subscriber held up the reader, retention may have removed messages. This consumer skips them
            // without an error.
            let first = try? await firstBatch()
            return first ?? 0 > message.streamSequence + 1 ? .renew : .goOn
        }
    }

    /// - Parameter former: The epoch before.
    /// - Returns: The offset after which the subscription begins.
    private func restart(in identity: JournalIdentity, after former: UInt64) async throws -> UInt64 {
        let fork = identity.epochs.end(of: former).map { StreamPosition.end(of: $0) } ?? 0
        let start =
            switch range.restart {
            case .ends, .beginning: 0 as UInt64
            case .fork, .retained: fork
            }
        buffer.restart(in: identity.epoch, after: start)
        if case .retained = range.restart {
            let last = try await journal.lastBatch()
            let documents = try await Documents(journal: journal, skipped: skipped)
                .overlay(filters, epoch: identity.epoch, through: last).envelopes(through: fork)
            for document in documents { try await buffer.put(document) }
        }
        return start
    }

    /// The sequence of the first batch that the stream has; nil if it has none.
    private func firstBatch() async throws -> Int? {
        try await journal.jetStream.nextMessage(
            of: journal.names.journal, subject: journal.names.batches, from: 1)?.sequence
    }

    /// The position up to which the subscriber has received everything, if it waits and has no message to receive;
    /// otherwise nil. It is beyond the last message that was delivered if the later ones are for others.
    func idlePosition() async throws -> Position? {
        let identity = try await journal.identity()
        guard identity.epoch == buffer.epoch, let received = buffer.idleSequence else { return nil }
        let last = try await journal.lastSequence()
        let isThere = try await journal.retrying {
            try await journal.hasBatches(matching: patterns, from: received + 1, through: last)
        }
        // A leader that was replaced while it was stopped may answer once more, and does not have the newest messages.
        // So the end counts that an earlier check has found: one of the two checks had an answer of the present leader.
        let confirmed = lastCheck.withLock { check -> UInt64? in
            let end = check.flatMap { !isThere && $0.received == received ? min($0.end, last) : nil }
            check = isThere ? nil : (end.map { max($0, received) } ?? received, last)
            return end
        }
        guard let confirmed, buffer.advance(from: received, to: confirmed) else { return nil }
        return Position(epoch: identity.epoch, offset: StreamPosition.end(of: max(confirmed, received)))
    }

    /// Moves the reader to the first batch of the stream.
    /// - Returns: The notices for what was removed before; nil if nothing was.
    ///
    /// The steward has recorded up to where it has removed messages. Without that record there is no notice, because
    /// the sequences before the first batch may be those of control records. The removed messages themselves are
    /// unknown: the type table says which types have had messages after the reader's place. Without it there is no
    /// notice.
    private func handleRemoval(_ tracker: inout ReadTracker) async throws -> [SubscriptionNotice]? {
        let received = tracker.received
        let first = try await firstBatch()
        guard let first, let through = tracker.handle(firstSequence: UInt64(clamping: first)) else {
            return nil
        }
        guard let removal = try await journal.read(RemovalRecord.self, .removal).value else { return nil }
        let end = min(through, StreamPosition.end(of: removal.sequence))
        guard end > received else { return nil }
        return try await journal.typeTable().newest(matching: filters).compactMap { type, newest in
            newest > received ? .removed(type, through: min(newest, end)) : nil
        }
    }

    // MARK: Transient messages

    /// True if transient messages can match. Documents are never transient.
    private var wantsTransientMessages: Bool { filters.contains { $0.kind != .document } }

    /// Receives transient messages until the task is cancelled.
    /// - Parameter whenLive: Called when the server knows the subscription.
    func receiveTransientMessages(whenLive: @escaping @Sendable () -> Void) async throws {
        guard wantsTransientMessages else { return whenLive() }
        try await TransientReceiver(journal: journal, patterns: patterns, buffer: buffer, skipped: skipped)
            .receive(whenLive: whenLive)
    }

    // MARK: The subscriber

    /// Waits for the next message; nil at the end.
    nonisolated(nonsending) func next() async throws -> Envelope? {
        while true {
            try Task.checkCancellation()
            if let envelope = nextAhead() { return envelope }
            guard let items = try await buffer.dequeue() else { return nil }
            ahead.withLock { $0.items.append(contentsOf: items) }
        }
    }

    /// The messages that wait for the subscriber. The envelopes of a batch are made when the subscriber has received
    /// those of the batch before it: until then the batch needs memory only for its bytes.
    private struct Ahead {
        /// The retained documents, which come first.
        var documents: Deque<Envelope>
        var items: Deque<SubscriptionBuffer.Item> = []
        /// The messages of the item that is being delivered, the first one last.
        var messages: [Envelope] = []
    }

    /// Dequeues the next wanted message of those that were dequeued from the buffer.
    private func nextAhead() -> Envelope? {
        ahead.withLock { ahead in
            if let document = ahead.documents.popFirst() { return document }
            while true {
                if let message = ahead.messages.popLast() { return message }
                guard let item = ahead.items.popFirst() else { return nil }
                ahead.messages = messages(of: item)
                ahead.messages.reverse()
            }
        }
    }

    /// Waits for the next message that a claim covers; nil when the claim may no longer be valid.
    nonisolated(nonsending) func next(under watch: ClaimWatch) async throws -> Envelope? {
        while !watch.isEnded {
            try Task.checkCancellation()
            if let message = nextAhead() {
                if watch.accepts(message) { return message }
                continue
            }
            if let sequence = buffer.drainedSequence { watch.recordWaiting(after: StreamPosition.end(of: sequence)) }
            guard let message = try await next() else { return nil }
            if watch.accepts(message) { return message }
        }
        return nil
    }

    private static let idleInterval = Duration.seconds(5)

    /// Records in a watch from time to time how far a reader is that waits while the journal grows with messages for
    /// others.
    func recordIdlePositions(for watch: ClaimWatch) async throws {
        while !watch.isEnded {
            try await Task.sleep(for: Self.idleInterval)
            // Later messages are after this position, even if the reader receives one meanwhile.
            if let position = try await idlePosition() { watch.recordWaiting(after: position.offset) }
        }
    }

    /// Ends the subscription. The subscriber still gets the messages that wait.
    func finish() { buffer.finish() }

    private func isWanted(_ envelope: Envelope) -> Bool {
        filters.contains { $0.matches(envelope) }
    }

    /// The wanted messages of an item. Those that cannot be read are recorded as skipped.
    private func messages(of item: SubscriptionBuffer.Item) -> [Envelope] {
        do {
            var batch =
                switch item {
                case .document(let envelope): BatchEnvelopes([envelope])
                case .batch(let batch): try batch.envelopes()
                case .transient(let message): try message.transientEnvelopes()
                }
            for failure in batch.failures { skipped.record("\(item.place): \(failure)") }
            batch.envelopes.removeAll { !isWanted($0) }
            return batch.envelopes
        } catch {
            skipped.record("\(item.place) is not a batch: \(error)")
            return []
        }
    }
}

extension SubscriptionBuffer.Item {
    /// The message's sequence and subject, for the log.
    fileprivate var place: String {
        switch self {
        case .document(let envelope): "the document \(envelope.type)"
        case .batch(let batch): "message \(batch.sequence) on '\(batch.message.subject)'"
        case .transient(let message): "a transient message on '\(message.subject)'"
        }
    }
}
