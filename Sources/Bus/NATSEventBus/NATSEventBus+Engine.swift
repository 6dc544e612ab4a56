internal import BusFormat
package import EventBus
internal import Foundation
internal import NATS
internal import NATSLayout
internal import Support

/// The methods of ``EventBusEngine``.
extension NATSEventBus {
    // MARK: Publishing

    package func maximumBatchSize() async throws -> Int { try await journal.identity().maximumBatchSize }

    @discardableResult
    package func publish(_ batch: Batch) async throws -> Position {
        try batch.validate()
        if let checkpoint = batch.checkpoint {
            if batch.isLeased { return try await leases.publish(batch, checkpoint) }
            let position = try await results.publish(batch, checkpoint)
            if batch.hasDocuments { await leases.record(batch, at: position) }
            return position
        }
        if batch.isLeased, !batch.messages.isEmpty { return try await leases.publish(batch) }
        guard batch.resolvedDeadLetters.isEmpty else {
            return try await position(of: try await deadLetters.settle(batch, send: send))
        }
        guard !batch.messages.isEmpty else { return try await journal.end() }
        // Read before packing, while the messages are in the cache.
        let hasDocuments = batch.hasDocuments
        let recorded = try await publisher.publish { try Publication(batch) }
        if hasDocuments, let position = recorded.position { await leases.record(batch, at: position) }
        return try await position(of: recorded)
    }

    /// The position of a recorded batch; the journal's end if it has no messages.
    private func position(of recorded: Lanes.Recorded) async throws -> Position {
        if let position = recorded.position { return position }
        return try await journal.end()
    }

    package func publishTransient(_ messages: [Envelope]) async throws {
        try Batch(messages).validate()
        let packed: PackedMessages
        do {
            packed = try PackedMessages(messages, isTransient: true)
        } catch {
            throw BusError(.refused, error.message)
        }
        guard packed.count > 0 else { return }
        // Waits until the stream has been found.
        _ = try await journal.identity()
        let end = journal.seenEnd
        let position = TransientPosition(epoch: end.epoch, sequence: StreamPosition(offset: end.offset).sequence)
        try await journal.retrying {
            try journal.connection.publish(
                journal.subject(.transient(MessageTokens(of: messages))),
                headers: position.headers(count: packed.count), body: packed.bytes)
        }
    }

    // MARK: Reading

    package func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        let range = try await range(of: filters, from: start, until: end)
        let reader = JournalReader(
            journal, filters: filters, range: range, skipped: skipped, onNotice: onNotice)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            let live = Latch()
            group.addTask { try await reader.receiveTransientMessages { live.open() } }
            try await live.waitUntilOpen()
            group.addTask(executorPreference: taskExecutor) { await reader.run() }
            return try await body(MessageSequence { try await reader.next().map { Delivery($0) } })
        }
    }

    /// The part of the journal that a subscription reads.
    private func range(
        of filters: [MessageFilter], from start: StartPosition, until end: Position?
    ) async throws -> JournalReader.Range {
        let epoch = try await journal.identity().epoch
        var range = JournalReader.Range(epoch: epoch, start: 0, end: try end.map { try $0.offset(in: epoch) })
        switch start {
        case .beginning: range.restart = .beginning
        case .now:
            range.start = StreamPosition.end(of: try await journal.lastSequence())
            range.restart = .fork
        case .after(let position):
            range.restart = .beginning
            range.start = try position.offset(in: epoch)
            if range.start > journal.seenEnd.offset {
                let end = try await journal.end()
                guard position.offset <= end.offset else {
                    throw BusError(.epoch, "position \(position) is beyond the end of the journal (\(end))")
                }
            }
        case .since(let date):
            range.restart = .beginning
            range.start = try await journal.offset(before: date, epoch: epoch)
        case .retained:
            range.restart = .retained
            let last = try await journal.lastBatch()
            range.start = StreamPosition.end(of: last)
            range.retained = try await Documents(journal: journal, skipped: skipped)
                .overlay(filters, epoch: epoch, through: last)
                .envelopes(through: min(range.start, range.end ?? .max))
        }
        return range
    }

    package func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        let range = JournalReader.Range(epoch: claim.epoch, start: claim.position.offset)
        let reader = JournalReader(
            journal, filters: filters, partitions: Set(claim.offsets.keys), range: range, skipped: skipped,
            onNotice: nil)
        return try await claims.withWatch(of: claim, progress: progress) {
            reader.finish()
        } _: { watch in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: taskExecutor) { await reader.run() }
                group.addTask { try await reader.recordIdlePositions(for: watch) }
                defer { group.cancelAll() }
                return try await body(MessageSequence { try await reader.next(under: watch).map { Delivery($0) } })
            }
        }
    }

    // MARK: Documents

    package func documents(
        matching filters: [MessageFilter], after offset: UInt64, limit: Int
    ) async throws -> [Envelope] {
        let epoch = try await journal.identity().epoch
        return try await Documents(journal: journal, skipped: skipped).overlay(filters, epoch: epoch)
            .envelopes(after: offset, limit: limit)
    }

    package func document(_ type: MessageType, subject: String, key: String?) async throws -> Envelope? {
        do { try Rules.checkDocument(type, subject: subject, key: key ?? "") } catch { throw BusError(error) }
        let epoch = try await journal.identity().epoch
        return try await Documents(journal: journal, skipped: skipped)
            .document(DocumentName(type, subject: subject, key: key), epoch: epoch)
    }

    // MARK: Measuring

    package func end() async throws -> Position { try await journal.end() }

    package func newestOfEachType(matching filters: [MessageFilter]) async throws -> [MessageType: Position] {
        let epoch = try await journal.identity().epoch
        return try await journal.newest(matching: filters, epoch: epoch, skipped: skipped)
            .mapValues { Position(epoch: epoch, offset: $0) }
    }

    package func lag(after position: Position, matching filters: [MessageFilter]) async throws -> UInt64 {
        let epoch = try await journal.identity().epoch
        let offset = position.epoch == epoch ? position.offset : 0
        return try await journal.lag(after: offset, matching: filters, epoch: epoch, skipped: skipped)
    }

    package func position(_ position: Position, offsetBy distance: Int) async throws -> Position {
        let epoch = try await journal.identity().epoch
        guard position.epoch == epoch else {
            return Position(epoch: position.epoch, offset: StreamPosition.offset(position.offset, by: distance))
        }
        return Position(
            epoch: epoch, offset: try await journal.offset(position.offset, by: distance, epoch: epoch))
    }

    // MARK: Durable consumers

    package func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        try await claims.claim(consumer: consumer, as: member)
    }

    package func leave(consumer: String, as member: ConsumerMember) async {
        await claims.leave(consumer: consumer, as: member)
    }

    package func consumers() async throws -> [DurableConsumer] {
        try await claims.consumers()
    }

    package func forget(consumer: String) async throws {
        try await claims.forget(consumer: consumer)
    }

    package func deadLetters(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter] {
        try await deadLetters.page(of: consumer, after: id, limit: limit, size: DeadLetters.pageSize) { $0 }
    }

    package func deadLetterSummaries(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter.Summary] {
        // A server sends a message whole; what is left out is dropped as it arrives.
        try await deadLetters.page(of: consumer, after: id, limit: limit, size: .max, \.summary)
    }

    package func deadLetterCount(of consumer: String?) async throws -> Int {
        try await deadLetters.count(of: consumer)
    }

    // MARK: Queries

    package func ask(_ query: Envelope, timeout: Duration) async throws -> Envelope {
        try await queries.ask(query, timeout: timeout)
    }

    package func serve(
        _ types: [MessageType], whenServing: @escaping @Sendable () -> Void,
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async throws {
        try await queries.serve(types, whenServing: whenServing, answer)
    }
}

extension Batch {
    fileprivate var hasDocuments: Bool { messages.contains { $0.kind == .document } }
}

extension Position {
    /// The offset, if the position belongs to a journal.
    /// - Throws: ``BusError`` with code `epoch`.
    fileprivate func offset(in epoch: UInt64) throws(BusError) -> UInt64 {
        guard self.epoch == epoch else {
            throw BusError(
                .epoch, "position \(self) belongs to another journal than \(String(epoch, radix: 16))")
        }
        return offset
    }
}

extension JournalConnection {
    /// The offset of the last message that was recorded before a time.
    fileprivate func offset(before date: Date, epoch: UInt64) async throws -> UInt64 {
        let seconds = date.timeIntervalSince1970
        // Also for a date that is not a number.
        guard seconds > 0 else { return 0 }
        // JetStream counts nanoseconds in 64 bits, which end in the year 2262.
        guard seconds < 9e9 else { return StreamPosition.end(of: try await lastSequence()) }
        let time = Int64(seconds * 1000) * 1_000_000
        while true {
            let last = try await lastSequence()
            let settings = ConsumerSettings(filters: [names.batches], start: .time(time), headersOnly: true)
            let first = try await retrying { try await jetStream.firstSequence(of: names.journal, settings) }
            if let first { return StreamPosition.end(before: first) }
            // The consumer may be on a server that does not have the last messages yet. The leader has them.
            let newest = try await self.last(names.batches)
            guard let newest, newest.time >= time, UInt64(clamping: newest.sequence) <= last else {
                return StreamPosition.end(of: last)
            }
        }
    }
}
