internal import Foundation

/// A broker within one process: the journal, the retained documents and the owners of durable consumers.
///
/// Several ``InMemoryEventBus`` handles share one hub as processes share a broker. The journal is the only buffer, and
/// it grows for as long as the hub lives: it is meant for tests, previews and programs that run briefly.
public actor InMemoryHub {
    /// Which of the retained documents: the last one of these is kept.
    struct DocumentKey: Hashable {
        let type: MessageType
        let subject: String
        let key: String?
    }

    let epoch = UInt64.random(in: 1...UInt64.max)
    /// The message at offset n is at index n - 1.
    private(set) var journal: [Envelope] = []
    private var retained: [DocumentKey: Envelope] = [:]
    private var owners: [String: ConsumerClaim] = [:]
    private var leases: [InMemoryEventBus.ID: Set<DocumentKey>] = [:]
    private var closed: Set<InMemoryEventBus.ID> = []
    var subscriptions: [InMemorySubscription.ID: InMemorySubscription] = [:]

    public init() {}

    /// The journal's end.
    public var end: Position { Position(epoch: epoch, offset: UInt64(journal.count)) }

    // The checks come first and nothing suspends, so that a batch is taken whole or not at all.
    func publish(_ batch: Batch, from handle: InMemoryEventBus.ID) throws -> Position {
        try requireOpen(handle)
        if let query = batch.messages.first(where: { $0.type.kind == .query }) {
            throw BusError(.refused, "\(query.type) cannot be published: queries are never journalled")
        }
        if let checkpoint = batch.checkpoint { try commit(checkpoint) }
        for message in batch.messages { append(message, leasedBy: batch.isLeased ? handle : nil) }
        if !batch.messages.isEmpty { wakeSubscribers() }
        return end
    }

    func documents(matching filters: [MessageFilter]) -> [Envelope] {
        retained.values
            .filter { document in filters.contains { $0.matches(document) } }
            .sorted { ($0.position?.offset ?? 0) < ($1.position?.offset ?? 0) }
    }

    func claim(_ consumer: String, for handle: InMemoryEventBus.ID) throws -> ConsumerClaim {
        try requireOpen(handle)
        let last = owners[consumer]
        let claim = ConsumerClaim(
            consumer: consumer, ownerEpoch: (last?.ownerEpoch ?? 0) + 1,
            position: last?.position ?? Position(epoch: epoch, offset: 0))
        owners[consumer] = claim
        return claim
    }

    /// Ends a handle as the death of a process would: its readers stop, its leased documents are withdrawn.
    func close(_ handle: InMemoryEventBus.ID) {
        closed.insert(handle)
        for key in leases.removeValue(forKey: handle) ?? [] {
            guard let document = retained[key] else { continue }
            var attributes = Attributes(type: key.type, source: document.attributes.source, subject: key.subject)
            attributes.key = key.key
            append(Envelope(attributes: attributes, data: .init()), leasedBy: nil)
        }
        wakeSubscribers()
    }

    func requireOpen(_ handle: InMemoryEventBus.ID) throws {
        if closed.contains(handle) { throw BusError(.closed, "the bus was closed: its run() has ended") }
    }

    private func commit(_ checkpoint: Checkpoint) throws {
        let claim = checkpoint.claim
        guard let owner = owners[claim.consumer], owner.ownerEpoch == claim.ownerEpoch else {
            throw BusError(.fenced, "another process has taken over the durable consumer '\(claim.consumer)'")
        }
        guard checkpoint.position.epoch == epoch else { throw epochError(checkpoint.position) }
        owners[claim.consumer] = ConsumerClaim(
            consumer: claim.consumer, ownerEpoch: claim.ownerEpoch, position: checkpoint.position)
    }

    func epochError(_ position: Position) -> BusError {
        BusError(.epoch, "position \(position) belongs to another journal than this one (\(end))")
    }

    private func append(_ message: Envelope, leasedBy handle: InMemoryEventBus.ID?) {
        var message = message
        message.position = Position(epoch: epoch, offset: UInt64(journal.count) + 1)
        journal.append(message)
        guard message.type.kind == .document else { return }
        let key = DocumentKey(type: message.type, subject: message.subject, key: message.attributes.key)
        retained[key] = message.isTombstone ? nil : message
        // Whoever published a document last decides what becomes of it.
        for holder in Array(leases.keys) { leases[holder]?.remove(key) }
        if let handle, !message.isTombstone { leases[handle, default: []].insert(key) }
    }
}
