internal import BusFormat
internal import EventBus
internal import Foundation
internal import Logging
internal import NATS
internal import NATSJournal
internal import NATSLayout
internal import Support

/// The retained documents, the dead letters and the table of types: computed from the journal, and stored in streams of
/// their own.
///
/// The watermark says up to which sequence of the journal they are complete. It is written last, so a steward that is
/// killed at any point leaves only what the next one repeats: everything after the watermark.
///
/// Every write expects a fence of this steward, which the next one replaces before it reads the watermark. So a steward
/// that no longer leads, and does not know it yet, cannot overwrite anything.
///
/// The streams may be replaced by older copies, which lack what was stored. The watermark must not vouch for that. So a
/// write that fails is not repeated, and one that gets a sequence that an earlier write had means a loss: both times
/// the projection begins again with what the streams have.
actor Projection {
    /// The points at which a test can end the steward.
    enum Step: CaseIterable, Hashable, Sendable {
        case fenced, documentStored, documentRemoved, letterStored, letterRemoved, typesStored, markStored
    }

    private struct Document {
        let stored: BatchMessage.Stored
        let lease: ProducerID?
    }

    private struct Letter {
        let consumer: String
        let sequence: UInt64
        let record: DeadLetterRecord
    }

    /// What the journal's last messages change.
    private struct Window {
        var documents: [DocumentName: Document] = [:]
        var deadLetters: [Letter] = []
        var settled: Set<Int64> = []
        var size = 0
        /// The sequence up to which the window goes.
        var end: UInt64?

        var isEmpty: Bool { documents.isEmpty && deadLetters.isEmpty && settled.isEmpty }
    }

    private static let windowCount = 4096
    private static let windowSize = 16 << 20
    private static let markInterval = Duration.milliseconds(250)
    /// The time after which an inventory that is not full is written.
    private static let inventoryInterval = Duration.seconds(5)
    /// See `NATSConnection.pause(_:)`: about 300 ms.
    private static let pauseAfterInterruption = 4
    /// Much less than the interval of the watermark, so it delays no reader noticeably. Without it, the steward would
    /// compete with the services for the processors at each message.
    private static let gathering = Duration.milliseconds(50)

    private let jetStream: JetStream
    private let names: StreamNames
    /// The beginning of the subjects of batches.
    private let batchPrefix: String
    private let epochs: JournalEpochs
    private let steward: StewardRecord
    private let records: RecordStore
    private let notices: StewardNotices
    private let logger: Logger
    private let passed: @Sendable (Step) throws -> Void

    private var fences: [Partition: Int] = [:]
    private var letterFence = 0
    private var watermarkSequence = 0
    private var types = TypeTable()
    /// The end of an earlier epoch whose documents were adapted, until the table of types is stored; nil if there were
    /// none.
    private var rebasedEnd: UInt64?
    private var leases = DocumentLeases<ProducerID>()
    /// The highest sequence that a write of this steward has got in each stream.
    private var written: [String: Int] = [:]
    /// True if dead letters were written since the last watermark.
    private var hasNewDeadLetters = false
    /// True if dead letters were lost that an earlier watermark may vouch for. They are made again from the journal.
    private var lacksDeadLetters = false
    private var window = Window()
    private var inventory: Inventory
    /// The sequence of the journal up to which everything is stored.
    private(set) var stored: UInt64 = 0
    /// The sequence that the watermark has.
    private(set) var watermark: UInt64 = 0
    /// The last message that has come from the journal.
    private(set) var last: SeenMessage?

    private var epoch: UInt64 { epochs.current }

    /// - Parameters:
    ///   - steward: The record under which this process leads.
    ///   - passed: Is called after each step.
    init(
        _ jetStream: JetStream, names: StreamNames, epochs: JournalEpochs, notices: StewardNotices,
        steward: StewardRecord, logger: Logger,
        passed: @escaping @Sendable (Step) throws -> Void = { _ in }
    ) {
        self.jetStream = jetStream
        self.names = names
        self.notices = notices
        records = RecordStore(jetStream, names, reporting: notices.report)
        batchPrefix = "\(names.namespace).m."
        self.epochs = epochs
        self.steward = steward
        self.logger = logger
        self.passed = passed
        inventory = Inventory(epoch: epochs.current)
    }

    /// The documents that a producer leases, as of ``stored`` or later.
    func documents(leasedBy producer: ProducerID) -> Set<DocumentName> { leases.documents(of: producer) }

    /// Follows the journal until the task is cancelled.
    /// - Throws: ``Deposed`` if another steward has taken over.
    func run() async throws {
        while true {
            do {
                try await begin()
                try await withThrowingTaskGroup { group in
                    group.addTask { try await self.follow() }
                    group.addTask { try await self.keepWatermark() }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            } catch let interrupted as Interrupted {
                logger.warning(
                    "the steward reads the retained documents and dead letters again: \(interrupted.reason)",
                    metadata: ["bus": "\(names.namespace)"])
                try await jetStream.connection.pause(Self.pauseAfterInterruption)
            }
        }
    }

    // MARK: Beginning

    /// Takes over from the steward before, or from this one before an interruption.
    func begin() async throws {
        (window, inventory, types) = (Window(), Inventory(epoch: epoch), TypeTable())
        // Retention removes nothing, and no lease is closed, before the streams have been read again.
        (stored, watermark, written) = (0, 0, [:])
        try await acquireFences()
        let known = try await acquireWatermark()
        try await readLeases()
        stored = known
    }

    private func acquireFences() async throws {
        letterFence = try await acquireFence(.letterFence, in: names.deadLetters)
        fences = try await withThrowingTaskGroup(of: (Partition, Int).self) { group in
            for partition in Partition.all {
                group.addTask {
                    (partition, try await self.acquireFence(.documentFence(partition), in: self.names.documents))
                }
            }
            var fences: [Partition: Int] = [:]
            for try await (partition, sequence) in group { fences[partition] = sequence }
            return fences
        }
        written = [names.deadLetters: letterFence, names.documents: fences.values.max() ?? 0]
        try passed(.fenced)
    }

    /// Replaces the fence of the previous steward, or this one's: a write before an interruption may still be under
    /// way.
    private func acquireFence(_ subject: BusSubject, in stream: String) async throws -> Int {
        while true {
            let last = try await records.last(StewardRecord.self, subject, of: stream)
            if let record = last.value, record.term > steward.term { throw Deposed() }
            if let sequence = try await records.replace(last.sequence, by: steward, at: subject, of: stream) {
                return Int(clamping: sequence)
            }
        }
    }

    /// Reads the watermark and the table of types, and writes the watermark again: from now on the previous steward
    /// cannot write it.
    /// - Returns: The sequence up to which the documents and dead letters are complete.
    private func acquireWatermark() async throws -> UInt64 {
        // Without a valid watermark, the documents are brought up to date from the beginning of the journal.
        let last = try await records.last(WatermarkRecord.self, .documentWatermark, of: names.documents)
        let known =
            if let record = last.value, record.epoch != epoch { try await rebase(from: record) } else {
                lacksDeadLetters ? 0 : last.value?.sequence ?? 0
            }
        watermarkSequence = Int(clamping: last.sequence)
        try await write(watermark: known)
        lacksDeadLetters = false
        let table = try await records.last(TypeTable.self, .typeTable, of: names.documents).value
        // The table may have types beyond the watermark, but none of messages that the journal has lost.
        if let table, watermark > 0 {
            types = table.limited(to: rebasedEnd.map { StreamPosition.end(of: $0) } ?? .max)
        }
        return known
    }

    /// Adapts the documents to a journal with another epoch.
    /// - Returns: The sequence up to which they are complete.
    private func rebase(from watermark: WatermarkRecord) async throws -> UInt64 {
        guard let end = epochs.end(of: watermark.epoch) else {
            // The documents that the new journal has come back when it is read from its beginning.
            logger.warning(
                "the retained documents and dead letters belong to another journal and are removed",
                metadata: ["epoch": "\(String(watermark.epoch, radix: 16))"])
            try await jetStream.retrying {
                try await jetStream.purge(names.documents, filter: names.allDocuments)
                try await jetStream.purge(names.deadLetters, filter: names.deadLetterFilter(of: nil))
            }
            return 0
        }
        // The journal has lost its end. A document from there is still the last one that was ever delivered.
        let settings = ConsumerSettings(filters: [names.allDocuments], start: .lastPerSubject)
        try await jetStream.readAll(of: names.documents, settings) { delivered in
            let headers = delivered.message.headers
            guard let old = try? DocumentRecord(fields: headers.fields, body: delivered.message.body),
                old.stored.position.epoch != epoch, let name = old.stored.documentName
            else { return }
            let offset = max(1, min(old.stored.position.offset, StreamPosition.end(of: end)))
            let stored = old.moved(to: Position(epoch: epoch, offset: offset)).stored
            let lease = headers[BatchHeaders.Name.lease.rawValue].flatMap { ProducerID(hexadecimal: $0) }
            try await store(
                Document(stored: stored, lease: lease), as: name, in: Partition(subject: name.subject))
        }
        try await rebaseDeadLetters(upTo: end)
        rebasedEnd = end
        return min(watermark.sequence, end)
    }

    /// Keeps the letters that the journal still has. The others are lost together with the progress beyond their
    /// messages, so the messages are handled again.
    private func rebaseDeadLetters(upTo end: UInt64) async throws {
        let settings = ConsumerSettings(filters: [names.deadLetterFilter(of: nil)], start: .lastPerSubject)
        try await jetStream.readAll(of: names.deadLetters, settings) { delivered in
            guard case .deadLetter(let consumer, let sequence) = BusSubject(delivered.subject, in: names.namespace),
                let record = try? DeadLetterRecord(
                    fields: delivered.message.headers.fields, body: delivered.message.body),
                record.epoch != epoch
            else { return }
            if sequence > end {
                try await remove(Int64(clamping: sequence))
            } else {
                try await store(Letter(consumer: consumer, sequence: sequence, record: record.moved(to: epoch)))
            }
        }
    }

    /// Finds the documents that are leased.
    private func readLeases() async throws {
        var leases = DocumentLeases<ProducerID>()
        let settings = ConsumerSettings(filters: [names.allDocuments], start: .lastPerSubject, headersOnly: true)
        try await jetStream.readAll(of: names.documents, settings) { delivered in
            guard let producer = delivered.message.header(BatchHeaders.Name.lease.rawValue),
                let lease = ProducerID(hexadecimal: producer),
                case .document(let name) = BusSubject(delivered.subject, in: names.namespace)
            else { return }
            leases.record(name, leasedBy: lease)
        }
        self.leases = leases
    }

    // MARK: Following the journal

    func follow() async throws {
        // The records of leases are read for their sequences only: a withdrawal that waits until everything before a
        // revocation is stored need not wait for another batch.
        let settings = ConsumerSettings(
            filters: [names.batches, names.leases], start: .sequence(Int(clamping: stored + 1)))
        try await jetStream.follow(names.journal, settings, gathering: Self.gathering) { delivered in
            if let delivered { read(delivered) }
            let isFull =
                window.documents.count + window.deadLetters.count >= Self.windowCount
                || window.size >= Self.windowSize
            if delivered == nil || isFull { try await storeWindow() }
        }
    }

    private func read(_ delivered: DeliveredMessage) {
        let sequence = UInt64(delivered.streamSequence)
        if sequence > last?.sequence ?? 0 { last = SeenMessage(sequence: sequence, time: delivered.time) }
        defer { window.end = max(window.end ?? 0, sequence) }
        // After an interruption a message can come again.
        guard sequence > max(stored, window.end ?? 0) else { return }
        let isBatch = delivered.subject.begins(with: batchPrefix)
        inventory.add(sequence, isBatch: isBatch)
        guard isBatch else { return }
        do {
            let batch = try BatchMessage(body: delivered.message.body) { delivered.message.header($0.rawValue) }
            let content = try batch.content(at: sequence, of: epoch)
            window.size += batch.body.count
            for message in content.messages { record(message, lease: batch.headers.lease) }
            window.settled.formUnion(batch.headers.resolvedDeadLetters)
            if let rejected = content.rejected, let progress = batch.headers.progress,
                case .results(let owner, _) = BusSubject(delivered.subject, in: names.namespace)
            {
                let record = DeadLetterRecord(rejected, progress: progress, time: delivered.time, epoch: epoch)
                window.deadLetters.append(Letter(consumer: owner.consumer, sequence: sequence, record: record))
            }
        } catch {
            notices.post(
                .damaged,
                "message \(sequence) of '\(delivered.subject)' in the journal \(names.journal) is damaged and cannot be "
                    + "delivered: \(error)")
        }
    }

    private func record(_ message: BatchMessage.Stored, lease: ProducerID?) {
        guard let topic = Topic(message.message.topic) else { return }
        types.record(topic.type, at: message.position.offset)
        guard topic.type.kind == .document, let name = message.documentName else { return }
        let isWithdrawn = message.message.data.isEmpty
        leases.record(name, leasedBy: isWithdrawn ? nil : lease)
        window.documents[name] = Document(stored: message, lease: isWithdrawn ? nil : lease)
    }

    // MARK: Storing

    /// Stores what the window has. One write is under way for each partition, because JetStream refuses a second one
    /// that expects the same fence.
    private func storeWindow() async throws {
        guard let end = window.end else { return }
        let window = self.window
        self.window = Window()
        if !window.isEmpty { try await store(window) }
        stored = max(stored, end)
    }

    private func store(_ window: Window) async throws {
        var lanes: [Partition: [(DocumentName, Document)]] = [:]
        for (name, document) in window.documents {
            lanes[Partition(subject: name.subject), default: []].append((name, document))
        }
        let order = lanes
        try await withThrowingTaskGroup { group in
            for (partition, documents) in order {
                group.addTask {
                    for (name, document) in documents { try await self.store(document, as: name, in: partition) }
                }
            }
            try await group.waitForAll()
        }
        for deadLetter in window.deadLetters where !window.settled.contains(Int64(clamping: deadLetter.sequence)) {
            try await store(deadLetter)
        }
        for deadLetter in window.settled.sorted() { try await remove(deadLetter) }
    }

    private func store(_ document: Document, as name: DocumentName, in partition: Partition) async throws {
        let subject = BusSubject.document(name).text(in: names.namespace)
        let record = DocumentRecord(document.stored)
        var headers = NATSHeaders(record.fields)
        headers[BatchHeaders.Name.lease.rawValue] = document.lease?.hexadecimal
        let fence = LastSequence(
            fences[partition] ?? 0, of: BusSubject.documentFence(partition).text(in: names.namespace))
        let sequence = try await write(subject, headers: headers, body: record.body, to: names.documents, last: fence)
        try passed(.documentStored)
        guard document.stored.message.data.isEmpty else { return }
        // The tombstone has replaced the document, and is not needed any more. A later document is not removed, even if
        // another steward has written it: its sequence is higher.
        _ = try await jetStream.retrying {
            try await jetStream.purge(names.documents, filter: subject, before: sequence + 1)
        }
        try passed(.documentRemoved)
    }

    private func store(_ deadLetter: Letter) async throws {
        let subject = BusSubject.deadLetter(consumer: deadLetter.consumer, sequence: deadLetter.sequence)
            .text(in: names.namespace)
        let fence = LastSequence(letterFence, of: BusSubject.letterFence.text(in: names.namespace))
        _ = try await write(
            subject, headers: NATSHeaders(deadLetter.record.fields), body: deadLetter.record.body,
            to: names.deadLetters,
            last: fence)
        hasNewDeadLetters = true
        try passed(.letterStored)
    }

    private func remove(_ deadLetter: Int64) async throws {
        // A letter is written only by the steward that has read its settlement, or before that. So it does not come
        // back.
        _ = try await jetStream.retrying {
            try await jetStream.purge(names.deadLetters, filter: names.deadLetterFilter(deadLetter))
        }
        try passed(.letterRemoved)
    }

    /// Writes a message once.
    /// - Returns: Its sequence.
    /// - Throws: ``Interrupted``.
    private func write(
        _ subject: String, headers: NATSHeaders, body: [UInt8], to stream: String, last: LastSequence
    ) async throws -> Int {
        let before = written[stream] ?? 0
        while true {
            do {
                let sequence = try await jetStream.publish(subject, headers: headers, body: body, expecting: last)
                    .sequence
                guard sequence > before else {
                    lacksDeadLetters = lacksDeadLetters || stream == names.deadLetters
                    throw Interrupted("the stream '\(stream)' lacks what was stored before", sequence: sequence)
                }
                written[stream] = max(written[stream] ?? 0, sequence)
                return sequence
            } catch let error as JetStreamError where error.code == .expectationUnderWay {
                try await jetStream.connection.pause(0)
            } catch let error as JetStreamError where error.code == .wrongLastSequence {
                throw Interrupted("another steward has written, or the stream '\(stream)' was replaced")
            } catch let error where error.isTemporary {
                throw Interrupted("\(error)")
            }
        }
    }

    private func write(_ subject: BusSubject, _ record: some LayoutRecord, last: LastSequence) async throws -> Int {
        let (headers, body) = try record.message()
        return try await write(
            subject.text(in: names.namespace), headers: NATSHeaders(headers), body: body, to: names.documents,
            last: last)
    }

    // MARK: The watermark

    private func keepWatermark() async throws {
        while true {
            try await Task.sleep(for: Self.markInterval)
            try await storeWatermark()
            try await storeInventory()
        }
    }

    /// Writes the inventories that are full, or have not been written for some time.
    private func storeInventory() async throws {
        for record in inventory.due(at: .now, interval: Self.inventoryInterval) {
            _ = try await write(.inventory(first: record.first), record, last: lastMark)
        }
    }

    /// The condition that no other steward has written the watermark.
    private var lastMark: LastSequence {
        LastSequence(watermarkSequence, of: BusSubject.documentWatermark.text(in: names.namespace))
    }

    /// Writes the table of types, then the watermark.
    func storeWatermark() async throws {
        let end = stored
        guard end > watermark else { return }
        try await requireDeadLetters()
        // The table may already have types beyond the watermark: readers then find the same message, or a later one.
        _ = try await write(.typeTable, types, last: lastMark)
        rebasedEnd = nil
        try passed(.typesStored)
        try await write(watermark: end)
        try passed(.markStored)
    }

    private func write(watermark end: UInt64) async throws {
        do {
            let record = WatermarkRecord(sequence: end, epoch: epoch)
            (watermarkSequence, watermark) = (
                try await write(.documentWatermark, record, last: LastSequence(watermarkSequence)), end
            )
        } catch let interrupted as Interrupted {
            // What the watermark vouches for was lost since the write before it.
            if let sequence = interrupted.sequence {
                _ = try await records.replace(
                    UInt64(sequence), by: WatermarkRecord(sequence: 0, epoch: epoch), at: .documentWatermark,
                    of: names.documents)
            }
            throw interrupted
        }
    }

    /// The watermark vouches for the dead letters, too, which are in another stream.
    private func requireDeadLetters() async throws {
        guard hasNewDeadLetters else { return }
        hasNewDeadLetters = false
        // What is stored from now on, the answer need not have.
        let needed = written[names.deadLetters] ?? 0
        let last = try await jetStream.retrying { try await jetStream.stream(names.deadLetters) }.lastSequence
        guard last >= needed else {
            lacksDeadLetters = true
            throw Interrupted("the stream '\(names.deadLetters)' lacks what was stored before")
        }
    }
}

/// A write of the projection has failed, or the stream lacks an earlier one.
private struct Interrupted: Error {
    let reason: String
    /// The sequence of the write, if an earlier one had it.
    let sequence: Int?

    init(_ reason: String, sequence: Int? = nil) {
        (self.reason, self.sequence) = (reason, sequence)
    }
}

/// The inventories that a steward makes while it reads the journal.
private struct Inventory {
    private let epoch: UInt64
    /// Those that are full, or after which a part of the journal was not read, and the present one.
    private var records: [InventoryRecord] = []
    /// The sequence after the last one that was written.
    private var written: UInt64 = 0
    private var lastWriting = ContinuousClock.now

    init(epoch: UInt64) {
        self.epoch = epoch
    }

    /// - Parameter sequence: The next message of the journal that is a batch, or the record of a lease.
    mutating func add(_ sequence: UInt64, isBatch: Bool) {
        if let last = records.indices.last, records[last].extend(to: sequence, isBatch: isBatch) { return }
        var record = InventoryRecord(first: sequence, epoch: epoch)
        _ = record.extend(to: sequence, isBatch: isBatch)
        records.append(record)
    }

    /// The records to write.
    mutating func due(at now: ContinuousClock.Instant, interval: Duration) -> [InventoryRecord] {
        guard let present = records.last else { return [] }
        let isDue = now - lastWriting >= interval && present.end > written
        guard records.count > 1 || isDue else { return [] }
        let due = isDue ? records : records.dropLast()
        (records, lastWriting) = ([present], now)
        if isDue { written = present.end }
        return due
    }
}
