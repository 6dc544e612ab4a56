internal import BusFormat
internal import EventBus
internal import NATS
internal import NATSLayout
internal import Support

/// The lease of this process's documents: the publisher's side.
///
/// Leased batches expect the record that says `held`. When the steward has received no heartbeat from the process for
/// too long, it revokes the lease, which refuses them, and withdraws the documents. Then the process holds a new lease
/// and publishes its documents again. A process that ends withdraws its documents itself.
actor Leases {
    private static let checkInterval = Duration.seconds(1)
    private static let withdrawalPause = Duration.milliseconds(100)
    /// The maximum time for withdrawing the documents at the end of the process.
    private static let endingTime = Duration.seconds(1)

    private let journal: JournalConnection
    private let producer: ProducerID
    private let source: String
    private let send: Send
    private let results: ResultPublisher
    private let locks = KeyedLocks<ProducerID>()
    /// The sequence of the record that leased batches expect. Nil while the process holds no lease.
    private var held: UInt64?
    /// The epoch of the journal to which `held` and the sequences in `documents` belong; nil before the first lease.
    private var epoch: UInt64?
    /// The orders are the sequences of the batches.
    private var documents = OwnLeases<Envelope, Checkpoint>()
    private var isEnding = false
    /// The number of leased batches that are being published, or published again.
    private var underWay = 0
    /// True if documents may be leased that ``documents`` does not have, or that this process cannot withdraw.
    private var mayHaveMore = false

    /// - Parameter source: The CloudEvents source of the messages that withdraw documents.
    init(
        _ journal: JournalConnection, producer: ProducerID, source: String, results: ResultPublisher,
        send: @escaping Send
    ) {
        self.journal = journal
        self.producer = producer
        self.source = source
        self.send = send
        self.results = results
    }

    /// Checks each second that the lease is held, until the task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: Self.checkInterval)) != nil {
            followEpoch()
            if let held {
                let record: RecordReading<LeaseRecord>
                do { record = try await journal.read(LeaseRecord.self, .lease(producer)) } catch { continue }
                // Also if there is no record, or an older one: the servers have lost the one of this process.
                guard record.sequence != held || record.damage != nil else { continue }
                lose(held)
            } else if documents.count == 0 {
                continue
            }
            _ = try? await hold()
        }
    }

    private func lose(_ sequence: UInt64) {
        if held == sequence { held = nil }
    }

    /// Ends the lease if the journal has another epoch: some of its documents may be lost, and later sequences are
    /// lower.
    private func followEpoch() {
        guard let now = journal.epochNow, now != epoch else { return }
        defer { epoch = now }
        guard epoch != nil else { return }
        held = nil
        documents.forgetOrders()
    }

    // MARK: Publishing

    /// Publishes a leased batch without a checkpoint.
    func publish(_ batch: Batch) async throws -> Position {
        let subject = journal.subject(.lease(producer))
        while true {
            let sequence = try await hold()
            let publication = try Publication(
                batch, lease: producer, expectation: Expectation(subject: subject, sequence: sequence))
            do {
                return try await recording(batch) { try await send(publication).position ?? journal.seenEnd }
            } catch let error as BusError where error.code == .fenced {
                lose(sequence)
            }
        }
    }

    /// Publishes a leased batch with a checkpoint. It expects only the fence of the claim: when the steward revokes the
    /// lease, it also replaces the fences of this process's members.
    func publish(_ batch: Batch, _ checkpoint: Checkpoint) async throws -> Position {
        _ = try await hold()
        return try await recording(batch) { try await results.publish(batch, checkpoint, lease: producer) }
    }

    /// Publishes a batch and records its documents.
    private func recording(_ batch: Batch, _ publish: () async throws -> Position) async throws -> Position {
        underWay += 1
        defer { endPublishing() }
        let change = change(by: batch)
        do {
            let position = try await publish()
            apply(change, at: position)
            if isEnding { mayHaveMore = true }
            return position
        } catch let error as BusError where error.code == .fenced {
            throw error
        } catch {
            // The batch may be stored nevertheless, for example if the caller was cancelled.
            mayHaveMore = true
            throw error
        }
    }

    private func endPublishing() {
        underWay -= 1
        forgetEnded()
    }

    /// Forgets the documents that are no longer leased, if no earlier batch can be recorded late.
    private func forgetEnded() {
        if underWay == 0 { documents.forgetEnded() }
    }

    /// The names of the documents whose publications are remembered.
    var names: Set<DocumentName> { documents.names }

    /// Records the documents of a batch that is in the journal.
    /// - Parameter position: The position of the batch.
    func record(_ batch: Batch, at position: Position) {
        apply(change(by: batch), at: position)
        forgetEnded()
    }

    private func change(by batch: Batch) -> OwnLeases<Envelope, Checkpoint>.Change? {
        let condition = batch.checkpoint.flatMap { $0.isGuard ? $0 : nil }
        return documents.change(by: batch, under: condition) { batch.messages }
    }

    /// - Parameter position: The position of the batch. If its epoch has ended, every later publication comes after it.
    private func apply(_ change: OwnLeases<Envelope, Checkpoint>.Change?, at position: Position) {
        followEpoch()
        guard let change else { return }
        documents.apply(change, at: position.epoch == epoch ? StreamPosition(offset: position.offset).sequence : 0)
    }

    // MARK: Holding

    /// - Returns: The sequence of the record that says `held`.
    private func hold() async throws -> UInt64 {
        guard !isEnding else { throw JournalConnection.ended }
        followEpoch()
        if let held { return held }
        underWay += 1
        defer { endPublishing() }
        // Other batches wait until the documents are published again, so that no older document replaces a newer one.
        let (sequence, isNew) = try await locks.withLock(of: producer) {
            while true {
                if let held { return (held, false) }
                let (sequence, isNew) = try await acquireLease()
                if isNew, try await !restore(under: sequence) { continue }
                held = sequence
                return (sequence, isNew)
            }
        }
        if isNew { try await restoreGuarded() }
        return sequence
    }

    /// - Returns: The sequence of the record, and true if it replaces an earlier lease.
    private func acquireLease() async throws -> (sequence: UInt64, isNew: Bool) {
        var wait = journal.connection.waits.operation()
        defer { wait.end() }
        while true {
            let last = try await journal.read(LeaseRecord.self, .lease(producer))
            switch last.value?.state {
            case .held: return (last.sequence, true)
            case .revoked:
                // The steward, this one or the next, withdraws the documents and then writes `withdrawn`.
                wait.recordFailure("no steward has withdrawn the documents of a lease that has ended; start a broker")
                try await Task.sleep(for: Self.withdrawalPause)
            // A damaged record is replaced, and the documents are published again.
            case .withdrawn, nil:
                let record = LeaseRecord(.held)
                if let sequence = try await journal.write(record, .lease(producer), after: last.sequence) {
                    return (sequence, last.sequence > 0)
                }
            }
        }
    }

    /// Publishes the documents again whose lease does not depend on a claim.
    /// - Returns: False if the lease was revoked meanwhile.
    private func restore(under sequence: UInt64) async throws -> Bool {
        let expectation = Expectation(subject: journal.subject(.lease(producer)), sequence: sequence)
        let plain = documents.leases().map(\.lease).filter { $0.condition == nil }.map(\.content)
        for part in Self.parts(plain, size: try await journal.identity().maximumBatchSize) {
            let batch = Batch(part, isLeased: true)
            do {
                let recorded = try await send(Publication(batch, lease: producer, expectation: expectation))
                if let position = recorded.position { record(batch, at: position) }
            } catch let error as BusError where error.code == .fenced {
                return false
            }
        }
        return true
    }

    /// Publishes the documents again that are leased only while a claim owns its partition.
    private func restoreGuarded() async throws {
        for (sequence, lease) in documents.leases() {
            guard let condition = lease.condition, documents.isCurrent(lease.name, at: sequence) else { continue }
            do {
                let batch = Batch([lease.content], checkpoint: condition, isLeased: true)
                record(batch, at: try await results.publish(batch, condition, lease: producer))
            } catch let error as BusError where [.fenced, .epoch].contains(error.code) {
                documents.end(condition)
            }
        }
    }

    // MARK: The end

    /// Withdraws the documents, and gives up the lease. What this process cannot withdraw is left to the steward.
    func end() async {
        isEnding = true
        guard let held else { return }
        _ = try? await withTimeLimit(Self.endingTime) { try await self.giveUp(held) }
    }

    private func giveUp(_ held: UInt64) async throws {
        // From now on, batches that are under way are refused.
        let revoked = LeaseRecord(.revoked)
        guard let revocation = try await journal.write(revoked, .lease(producer), after: held) else { return }
        let leases = documents.leases().map(\.lease)
        try await withdraw(leases.filter { $0.condition == nil }.map(\.name), under: revocation)
        for lease in leases {
            if let condition = lease.condition { try await withdraw(lease.name, under: condition) }
        }
        // The steward withdraws the rest of a revoked lease.
        guard !mayHaveMore, underWay == 0 else { return }
        _ = try await journal.write(LeaseRecord(.withdrawn), .lease(producer), after: revocation)
    }

    private func withdraw(_ names: [DocumentName], under revocation: UInt64) async throws {
        let expectation = Expectation(subject: journal.subject(.lease(producer)), sequence: revocation)
        // Batches of one type: a process may have the right to publish only some types.
        for names in Dictionary(grouping: names, by: \.type).values {
            for part in Self.parts(
                names.map { .withdrawal(of: $0, source: source) }, size: try await journal.identity().maximumBatchSize)
            {
                _ = try await send(Publication(Batch(part), expectation: expectation))
            }
        }
    }

    /// Withdraws a document that is leased under a claim, if the claim still owns the partition. Otherwise the document
    /// may be another process's.
    private func withdraw(_ name: DocumentName, under condition: Checkpoint) async throws {
        do {
            _ = try await results.publish(
                Batch([.withdrawal(of: name, source: source)], checkpoint: condition), condition)
        } catch let error as BusError where [.fenced, .epoch].contains(error.code) {
            mayHaveMore = true
        }
    }

    /// Divides documents into batches.
    /// - Parameter maximumSize: The maximum size of a batch, in bytes.
    private static func parts(_ messages: [Envelope], size maximumSize: Int) -> [[Envelope]] {
        var parts: [[Envelope]] = []
        var size = 0
        for message in messages {
            let messageSize = message.data.count + Limits.headerSize
            size += messageSize
            if let last = parts.indices.last, parts[last].count < Limits.batchCount, size <= maximumSize {
                parts[last].append(message)
            } else {
                parts.append([message])
                size = messageSize
            }
        }
        return parts
    }
}
