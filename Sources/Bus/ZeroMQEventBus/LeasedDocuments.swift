internal import BusFormat
internal import BusProtocol
internal import EventBus

/// The leased documents of this client, as the journal last recorded them.
struct LeasedDocuments {
    struct Key: Hashable {
        let type: MessageType
        let subject: String
        let key: String
    }

    struct Lease: Hashable {
        let message: PublishedMessage
        /// The lease ends when this checkpoint's claim no longer owns the partition. Nil for a lease that does not
        /// depend on a claim.
        let condition: CheckpointFrame?
    }

    /// The change to documents when a batch is recorded. The value is nil for a document that is no longer leased.
    typealias Change = [Key: Lease?]

    private struct Entry {
        /// The request that changed the document last.
        let request: UInt64
        let lease: Lease?
    }

    private var entries: [Key: Entry] = [:]
    /// The types of all documents that were ever leased. Each batch of a caller is searched for documents of these
    /// types.
    private var types: [MessageType] = []

    /// The number of documents that the bus should hold as leased by this client.
    private(set) var count = 0

    /// Finds the change that a batch makes to leased documents.
    /// - Parameter packed: The encoded messages of the batch. The returned documents share this memory.
    /// - Returns: `nil` if the batch has no document of a type that this client has leased.
    mutating func change(by batch: Batch, _ packed: PackedMessages) throws(ProtocolError) -> Change? {
        if batch.isLeased {
            for message in batch.messages where message.type.kind == .document && !types.contains(message.type) {
                types.append(message.type)
            }
        }
        guard !types.isEmpty, batch.messages.contains(where: { types.contains($0.type) }) else { return nil }
        let condition = batch.checkpoint.flatMap { $0.isGuard ? CheckpointFrame($0) : nil }
        var change: Change = [:]
        var reader = ByteReader(packed.bytes)
        for message in batch.messages {
            let published = try PublishedMessage(&reader)
            guard types.contains(message.type) else { continue }
            let isLeased = batch.isLeased && !message.isTombstone
            change[Key(type: message.type, subject: message.subject, key: published.key)] = .some(
                isLeased ? Lease(message: published, condition: condition) : nil)
        }
        return change
    }

    /// Applies the change of a recorded batch. An older change does not replace a newer one.
    mutating func apply(_ change: Change, of request: UInt64) {
        for (key, lease) in change where request >= entries[key]?.request ?? 0 {
            count += (lease == nil ? 0 : 1) - (entries[key]?.lease == nil ? 0 : 1)
            entries[key] = Entry(request: request, lease: lease)
        }
    }

    /// Ends the leases that depend on a claim which no longer owns the partition.
    mutating func end(_ condition: CheckpointFrame) {
        for (key, entry) in entries where entry.lease?.condition == condition {
            entries[key] = Entry(request: entry.request, lease: nil)
            count -= 1
        }
    }

    /// Forgets documents that are no longer leased, when no earlier request can restore them.
    /// - Parameter request: The oldest unanswered request.
    mutating func forgetWithdrawn(before request: UInt64) {
        guard count < entries.count else { return }
        entries = entries.filter { $0.value.lease != nil || $0.value.request >= request }
    }

    /// All leased documents, divided into batches. Documents that unanswered batches change are left out.
    func batches(except changing: Set<Key>) -> [(condition: CheckpointFrame?, messages: [PublishedMessage])] {
        let leases = entries.filter { !changing.contains($0.key) }.values
            .sorted { $0.request < $1.request }.compactMap(\.lease)
        var batches: [(condition: CheckpointFrame?, messages: [PublishedMessage])] = []
        var size = 0
        for lease in leases {
            size += lease.message.size
            if let last = batches.last, size <= Limits.maximumFrameSize, last.messages.count < Limits.batchCount,
                last.condition == lease.condition
            {
                batches[batches.count - 1].messages.append(lease.message)
            } else {
                batches.append((lease.condition, [lease.message]))
                size = lease.message.size
            }
        }
        return batches
    }
}

extension PublishedMessage {
    /// The size of the message in a frame, in bytes, including the length fields.
    fileprivate var size: Int {
        topic.utf8.count + subject.utf8.count + key.utf8.count + header.count + data.count + 14
    }
}
