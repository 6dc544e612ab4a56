internal import BusFormat
internal import EventBus
internal import Foundation
internal import Logging
internal import NATS
internal import NATSJournal
internal import NATSLayout
internal import Support

extension RetentionLimits {
    /// The size at which the server itself removes messages, if no steward does.
    var lastStop: Int? { size.map { $0 > Int.max / 2 ? Int.max : $0 * 2 } }

    /// The room in bytes that each server needs, without documents and dead letters.
    var room: Int { (lastStop ?? 0).addingReportingOverflow(JournalStreams.overhead).partialValue }
}

/// Removes old messages and superseded records from the journal.
///
/// Messages are removed only up to the watermark of the projection. What a durable consumer loses is recorded before it
/// is removed; if the steward is killed in between, the next one counts nothing twice, because offsets that are
/// recorded are left out.
actor Retention {
    /// The interval of the steps.
    static let interval = Duration.seconds(5)
    /// The interval while the journal is larger than its limit, so that it does not grow to the size at which the
    /// server itself removes messages.
    private static let shortInterval = Duration.seconds(1)
    /// The header in which a consumer without bodies gives their sizes.
    private static let sizeHeader = "Nats-Msg-Size"

    private let jetStream: JetStream
    private let names: StreamNames
    private let epochs: JournalEpochs
    private let limits: RetentionLimits
    private let projection: Projection
    private let notices: StewardNotices
    private let logger: Logger
    private let records: ControlRecords
    private var lagWarnings: LagWarnings
    /// True if the journal was larger than its limit at the last step.
    private var isTooLarge = false

    init(
        _ jetStream: JetStream, names: StreamNames, epochs: JournalEpochs, limits: RetentionLimits,
        projection: Projection, notices: StewardNotices, logger: Logger
    ) {
        self.jetStream = jetStream
        self.names = names
        self.epochs = epochs
        self.limits = limits
        self.projection = projection
        self.notices = notices
        self.logger = logger
        lagWarnings = LagWarnings(of: names.journal, unit: "sequence")
        records = ControlRecords(jetStream, names: names, epochs: epochs, notices: notices)
    }

    /// The time until the next step.
    var pause: Duration { isTooLarge ? Self.shortInterval : Self.interval }

    func run() async throws {
        while true {
            try await Task.sleep(for: pause)
            do {
                try await step(at: Date())
            } catch let error where error is ProtocolError || (error as? JetStreamError)?.isStreamThere == true {
                // The next step tries again.
                logger.error("retention failed", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Removes what the limits do not keep.
    /// - Parameter now: The time from which ages are counted.
    func step(at now: Date) async throws {
        let consumers = try await records.consumers()
        let info = try await jetStream.retrying { try await jetStream.stream(names.journal) }
        let first = try await firstMessage()
        // Records alone cannot be removed for their size.
        isTooLarge = first != nil && limits.size.map { info.byteCount > $0 } ?? false
        if let first { try await removeBatches(from: first, of: info, consumers, at: now) }
        try await records.removeSuperseded(at: now)
    }

    private func removeBatches(
        from first: UInt64, of info: StreamInfo, _ consumers: [String: ControlRecords.Consumer], at now: Date
    ) async throws {
        try await warn(consumers, first: first, info: info)
        // A message that is not in the projection is never removed.
        let watermark = await projection.watermark + 1
        let excess = info.byteCount - (limits.size ?? info.byteCount)
        let limit = RetentionLimits.end(
            old: try await firstYoungSequence(at: now),
            handled: consumers.values.map(\.position).min().map { StreamPosition.start(after: $0) },
            tooLarge: excess > 0 ? try await sequence(freeing: excess, from: first) : nil,
            last: min(watermark, UInt64(info.lastSequence) + 1))
        guard limit > first else { return }
        try await recordLosses(of: consumers, from: first, before: limit)
        try await records.recordRemoval(before: limit)
        _ = try await jetStream.retrying {
            try await jetStream.purge(names.journal, filter: names.batches, before: Int(clamping: limit))
        }
    }

    // MARK: Age

    /// The sequence of the first batch.
    private func firstMessage() async throws -> UInt64? {
        try await jetStream.retrying {
            try await jetStream.firstSequence(
                of: names.journal, ConsumerSettings(filters: [names.batches], headersOnly: true))
        }
    }

    /// The first sequence that is younger than the limit.
    private func firstYoungSequence(at now: Date) async throws -> UInt64? {
        guard let age = limits.age else { return nil }
        let oldest = JetStreamTime.nanoseconds(of: now.addingTimeInterval(-(age / .seconds(1))))
        let settings = ConsumerSettings(filters: [names.batches], start: .time(oldest), headersOnly: true)
        let young = try await jetStream.retrying {
            try await jetStream.firstSequence(of: names.journal, settings)
        }
        if let young { return young }
        // The server that was asked may lag behind the leader, and not have the young messages yet.
        guard let last = try await jetStream.last(names.batches, of: names.journal), last.time < oldest else {
            return nil
        }
        return UInt64(last.sequence) + 1
    }

    // MARK: Size

    /// The sequence before which the oldest batches have at least `size` bytes together.
    private func sequence(freeing size: Int, from first: UInt64) async throws -> UInt64 {
        var (freed, end) = (0, first)
        struct Enough: Error {}
        do {
            let settings = ConsumerSettings(
                filters: [names.batches], start: .sequence(Int(clamping: first)), headersOnly: true)
            try await jetStream.readAll(of: names.journal, settings) { delivered in
                end = UInt64(delivered.streamSequence) + 1
                var headers = delivered.message.headers
                let body = headers[Self.sizeHeader].flatMap { Int(count: $0) } ?? 0
                headers[Self.sizeHeader] = nil
                // A message takes this much of the server's store.
                freed += delivered.subject.utf8.count + body + 46
                freed += headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
                if freed >= size { throw Enough() }
            }
        } catch is Enough {}
        return end
    }

    private func warn(_ consumers: [String: ControlRecords.Consumer], first: UInt64, info: StreamInfo) async throws {
        guard let limit = limits.size else { return }
        var next = lagWarnings
        let warnings = next.update(
            consumers.keys, { consumers[$0].map { StreamPosition(offset: $0.position).sequence } }, oldest: first,
            end: UInt64(info.lastSequence), used: info.byteCount, limit: limit)
        for warning in warnings { try await notices.say(.consumerBehind, warning) }
        // If one could not be published, the next step warns again.
        lagWarnings = next
    }

    // MARK: Losses

    /// Records what each consumer loses.
    private func recordLosses(
        of consumers: [String: ControlRecords.Consumer], from first: UInt64, before limit: UInt64
    ) async throws {
        let behind = consumers.filter { StreamPosition.start(after: $0.value.position) < limit }
        guard !behind.isEmpty else { return }
        var losses: [String: Losses] = [:]
        for (name, consumer) in behind { losses[name] = Losses(consumer) }
        var documents: [DocumentName: UInt64] = [:]
        try await read(from: first, before: limit) { delivered in
            // A damaged batch was never delivered, so it is not lost to any consumer.
            guard
                let batch = try? delivered.batch(),
                let content = try? batch.content(at: UInt64(delivered.streamSequence), of: epochs.current)
            else { return }
            for message in content.messages {
                if let name = message.documentName { documents[name] = message.position.offset }
                for name in behind.keys { losses[name]?.record(message) }
            }
        }
        let retained = try await retained(documents)
        for (name, losses) in losses.sorted(by: { $0.key < $1.key }) {
            let cutOffs = losses.cutOffs(without: retained)
            guard !cutOffs.isEmpty, try await records.add(cutOffs, to: name) else { continue }
            try await notices.say(.cutOff(name, by: names.journal))
        }
    }

    /// Reads the batches between two sequences, all of them.
    private func read(from first: UInt64, before limit: UInt64, _ handle: (DeliveredMessage) -> Void) async throws {
        struct End: Error {}
        let settings = ConsumerSettings(filters: [names.batches], start: .sequence(Int(clamping: first)))
        do {
            try await jetStream.readAll(of: names.journal, settings) { delivered in
                guard UInt64(delivered.streamSequence) < limit else { throw End() }
                handle(delivered)
            }
        } catch is End {}
    }

    /// The offsets of those documents that are retained.
    private func retained(_ documents: [DocumentName: UInt64]) async throws -> Set<UInt64> {
        var offsets: Set<UInt64> = []
        for (name, offset) in documents {
            let subject = BusSubject.document(name).text(in: names.namespace)
            guard let last = try await jetStream.last(subject, of: names.documents),
                let record = try? DocumentRecord(fields: last.headers.fields, body: last.body),
                record.stored.position.offset == offset
            else { continue }
            offsets.insert(offset)
        }
        return offsets
    }
}

extension JetStreamError {
    /// True unless the stream was deleted.
    fileprivate var isStreamThere: Bool { code != .streamNotFound }
}

/// The messages that one consumer loses.
private struct Losses {
    private let consumer: ControlRecords.Consumer
    private var documents: [UInt64: MessageType] = [:]
    private var counts: [MessageType: (count: Int, offsets: ClosedRange<UInt64>)] = [:]

    init(_ consumer: ControlRecords.Consumer) {
        self.consumer = consumer
    }

    mutating func record(_ message: BatchMessage.Stored) {
        let offset = message.position.offset
        guard let envelope = try? message.envelope(), offset > consumer.handled(envelope.partition),
            offset > consumer.recorded[envelope.type] ?? 0
        else { return }
        if envelope.type.kind == .document {
            documents[offset] = envelope.type
        } else {
            add(envelope.type, offset)
        }
    }

    private mutating func add(_ type: MessageType, _ offset: UInt64) {
        let known = counts[type]
        let range = known.map { min($0.offsets.lowerBound, offset)...max($0.offsets.upperBound, offset) }
        counts[type] = ((known?.count ?? 0) + 1, range ?? offset...offset)
    }

    /// - Parameter retained: The offsets of documents that readers still get.
    func cutOffs(without retained: Set<UInt64>) -> [CutOff] {
        var all = self
        for (offset, type) in documents where !retained.contains(offset) { all.add(type, offset) }
        return all.counts.map { CutOff(type: $0.key, count: $0.value.count, offsets: $0.value.offsets) }
            .sorted { $0.offsets.lowerBound < $1.offsets.lowerBound }
    }
}
