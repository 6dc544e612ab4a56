/// The documents that a process leases, as the journal last recorded them: the publisher's side of ``DocumentLeases``.
///
/// The last publication of a document decides whether it is leased. Publications are compared by their *order*, a number
/// that grows from batch to batch: with ZeroMQ the number of the request, on NATS the sequence of the batch.
package struct OwnLeases<Content: Sendable, Condition: Hashable & Sendable>: Sendable {
    package struct Lease: Sendable {
        package let name: DocumentName
        package let content: Content
        /// The lease ends when the claim of this checkpoint no longer owns the partition. Nil for a lease that does not
        /// depend on a claim.
        package let condition: Condition?
    }

    /// The change to documents when a batch is recorded. The value is nil for a document that is no longer leased.
    package typealias Change = [DocumentName: Lease?]

    private struct Entry {
        /// The order of the batch that changed the document last.
        var order: UInt64
        /// Nil for a document that is no longer leased, while a batch may be recorded late that leased it.
        var lease: Lease?
    }

    private var entries: [DocumentName: Entry] = [:]
    /// The types of all documents that were ever leased. Only batches with documents of these types change leases.
    private var types: [MessageType] = []
    /// The number of documents that are leased.
    package private(set) var count = 0

    package init() {}

    /// The names of the documents whose publications are remembered.
    package var names: Set<DocumentName> { Set(entries.keys) }

    /// Finds the change that a batch makes to leased documents. Call it before a leased batch is sent.
    /// - Parameter contents: Returns the contents of all messages of the batch.
    /// - Returns: Nil if the batch has no document of a type that was ever leased.
    package mutating func change<Failure>(
        by batch: Batch, under condition: Condition?, _ contents: () throws(Failure) -> [Content]
    ) throws(Failure) -> Change? {
        if batch.isLeased {
            for message in batch.messages where message.type.kind == .document && !types.contains(message.type) {
                types.append(message.type)
            }
        }
        guard !types.isEmpty, batch.messages.contains(where: { types.contains($0.type) }) else { return nil }
        var change: Change = [:]
        for (message, content) in zip(batch.messages, try contents()) where types.contains(message.type) {
            let name = DocumentName(message)
            let isLeased = batch.isLeased && !message.isTombstone
            change[name] = .some(isLeased ? Lease(name: name, content: content, condition: condition) : nil)
        }
        return change
    }

    /// Applies the change of a recorded batch. An older change does not replace a newer one.
    package mutating func apply(_ change: Change, at order: UInt64) {
        for (name, lease) in change where order >= entries[name]?.order ?? 0 {
            set(name, Entry(order: order, lease: lease))
        }
    }

    /// Ends the leases that depend on a claim which no longer owns the partition.
    package mutating func end(_ condition: Condition) {
        for (name, entry) in entries where entry.lease?.condition == condition {
            set(name, Entry(order: entry.order, lease: nil))
        }
    }

    private mutating func set(_ name: DocumentName, _ entry: Entry) {
        count += (entry.lease == nil ? 0 : 1) - (entries[name]?.lease == nil ? 0 : 1)
        entries[name] = entry
    }

    /// Forgets documents that are no longer leased, when no earlier batch can lease them.
    /// - Parameter order: The order of the oldest batch that is not recorded; `max` if there is none.
    package mutating func forgetEnded(before order: UInt64 = .max) {
        guard count < entries.count else { return }
        entries = entries.filter { $0.value.lease != nil || $0.value.order >= order }
    }

    /// Begins a new journal, or a new epoch of it, whose orders are not comparable with the earlier ones: every later
    /// publication counts.
    package mutating func forgetOrders() {
        for name in entries.keys { entries[name]?.order = 0 }
    }

    /// All leased documents, in the order of their publications, with this order.
    /// - Parameter changing: The documents that are left out.
    package func leases(except changing: Set<DocumentName> = []) -> [(order: UInt64, lease: Lease)] {
        entries.filter { !changing.contains($0.key) }.values
            .compactMap { entry in entry.lease.map { (entry.order, $0) } }
            .sorted { $0.0 < $1.0 }
    }

    /// True if the document is leased since the publication with this order.
    package func isCurrent(_ name: DocumentName, at order: UInt64) -> Bool {
        entries[name].map { $0.order == order && $0.lease != nil } ?? false
    }
}

/// The state of the lease of a process's documents, on a bus that keeps it in a record. It only changes in the order of
/// the cases, and then begins again.
///
/// A bus treats a record that cannot be read as `held`, so that the documents of a silent process are withdrawn. The
/// process replaces such a record, and publishes its documents again.
package enum LeaseState: String, Codable, Sendable {
    /// The process publishes leased documents.
    case held
    /// The process has ended, or was silent for too long. Its leased documents are to be withdrawn. It waits until they
    /// are.
    case revoked
    /// The leased documents are withdrawn, by the process at its end or by the bus. The process may hold a lease again.
    case withdrawn
}
