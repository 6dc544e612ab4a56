internal import Foundation

/// A broker within one process: the journal, the retained documents, the durable consumers and their dead letters, and who
/// answers which queries.
///
/// Several ``InMemoryEventBus`` handles share one hub as processes share a broker. The journal is the only buffer, and
/// it grows for as long as the hub lives: it is meant for tests, previews and programs that run briefly.
public actor InMemoryHub {
    let epoch = UInt64.random(in: 1...UInt64.max)
    /// The message at offset n is at index n - 1.
    private(set) var journal: [JournalEntry] = []
    private var retained: [DocumentKey: Envelope] = [:]
    private var leases: [InMemoryEventBus.ID: Set<DocumentKey>] = [:]
    private var closed: Set<InMemoryEventBus.ID> = []
    var subscriptions: [InMemorySubscription.ID: InMemorySubscription] = [:]
    /// By name of the durable consumer.
    var groups: [String: ConsumerGroup] = [:]
    /// The greatest owner epoch of a consumer that was removed.
    var forgottenEpoch: UInt64 = 0
    var memberships: [InMemoryEventBus.ID: Set<Membership>] = [:]
    /// Oldest first.
    var letters: [DeadLetter] = []
    var lastLetter: Int64 = 0
    /// Whose turn it is comes first.
    var servers: [InMemoryServer] = []
    var queries: [InMemoryQuery.ID: InMemoryQuery] = [:]

    public init() {}

    /// The journal's end.
    public var end: Position { Position(epoch: epoch, offset: UInt64(journal.count)) }

    /// How many transient messages were lost because a subscriber had as many waiting as it may.
    public private(set) var lostTransientMessages = 0

    // Whatever can fail comes first and nothing suspends, so that a batch is taken whole or not at all.
    func publish(_ batch: Batch, from handle: InMemoryEventBus.ID) throws -> Position {
        try requireOpen(handle)
        try batch.validate()
        try batch.validateMessages()
        if let checkpoint = batch.checkpoint, try isHandled(checkpoint) { return end }
        let rejected = try rejectedMessage(of: batch)
        try batch.checkpoint.map(requireReached)
        try requireLetters(batch.settledLetters)
        batch.checkpoint.map(record)
        if let rejection = batch.rejection, let checkpoint = batch.checkpoint, let rejected {
            keep(rejected, of: checkpoint.claim.consumer, because: rejection)
        }
        settle(batch.settledLetters)
        if batch.isTransient {
            deliver(batch.messages)
        } else {
            for message in batch.messages { append(message, leasedBy: batch.isLeased ? handle : nil) }
        }
        if !batch.messages.isEmpty { wakeSubscribers() }
        return end
    }

    func documents(matching filters: [MessageFilter]) -> [Envelope] {
        retained.values
            .filter { document in filters.contains { $0.matches(document) } }
            .sorted { ($0.position?.offset ?? 0) < ($1.position?.offset ?? 0) }
    }

    func document(_ key: DocumentKey, for handle: InMemoryEventBus.ID) throws -> Envelope? {
        try requireOpen(handle)
        return retained[key]
    }

    func newest(matching filters: [MessageFilter]) -> Position {
        journal.last { $0.hasType(of: filters) }?.message.position ?? Position(epoch: epoch, offset: 0)
    }

    func newestOfEachType(matching filters: [MessageFilter]) -> [MessageType: Position] {
        journal.reduce(into: [:]) { newest, entry in
            if entry.hasType(of: filters) { newest[entry.message.type] = entry.message.position }
        }
    }

    /// Ends a handle as the death of a process would: its readers stop, its leased documents are withdrawn, others go on
    /// with what it consumed, and what it was asked gets no answer.
    func close(_ handle: InMemoryEventBus.ID) {
        closed.insert(handle)
        for key in leases.removeValue(forKey: handle) ?? [] {
            guard let document = retained[key] else { continue }
            var attributes = Attributes(type: key.type, source: document.attributes.source, subject: key.subject)
            attributes.key = key.key
            append(Envelope(attributes: attributes, data: .init()), leasedBy: nil)
        }
        leaveConsumers(handle)
        endQueries(of: handle)
        wakeSubscribers()
    }

    func requireOpen(_ handle: InMemoryEventBus.ID) throws {
        if closed.contains(handle) { throw BusError.runEnded }
    }

    func requireThisJournal(_ position: Position) throws {
        guard position.epoch == epoch else {
            throw BusError(.epoch, "position \(position) belongs to another journal than this one (\(end))")
        }
    }

    private func deliver(_ messages: [Envelope]) {
        for id in subscriptions.keys {
            for message in messages {
                let isKept = subscriptions[id]?.offer(message, behind: journal.count) ?? true
                if !isKept { lostTransientMessages += 1 }
            }
        }
    }

    private func append(_ message: Envelope, leasedBy handle: InMemoryEventBus.ID?) {
        var message = message
        message.position = Position(epoch: epoch, offset: UInt64(journal.count) + 1)
        journal.append(JournalEntry(message: message, time: Date()))
        guard message.type.kind == .document else { return }
        let key = DocumentKey(message)
        retained[key] = message.isTombstone ? nil : message
        // Whoever published a document last decides what becomes of it.
        for holder in Array(leases.keys) { leases[holder]?.remove(key) }
        if let handle, !message.isTombstone { leases[handle, default: []].insert(key) }
    }
}

extension BusError {
    static let runEnded = BusError(.closed, "the bus was closed: its run() has ended")
}
