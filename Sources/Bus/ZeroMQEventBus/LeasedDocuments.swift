internal import BusProtocol
internal import EventBus

/// The leased documents of this client, as the journal last recorded them.
struct LeasedDocuments {
    struct Key: Hashable {
        let type: MessageType
        let subject: String
        let key: String
    }

    /// The change to documents when a batch is recorded. The value is nil for a document that is no longer leased.
    typealias Change = [Key: PublishedMessage?]

    private struct Entry {
        /// The request that changed the document last.
        let request: UInt64
        let message: PublishedMessage?
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
        var change: Change = [:]
        var reader = ByteReader(packed.bytes)
        for message in batch.messages {
            let published = try PublishedMessage(&reader)
            guard types.contains(message.type) else { continue }
            let isLeased = batch.isLeased && !message.isTombstone
            change[Key(type: message.type, subject: message.subject, key: published.key)] = .some(
                isLeased ? published : nil)
        }
        return change
    }

    /// Applies the change of a recorded batch. An older change does not replace a newer one.
    mutating func apply(_ change: Change, of request: UInt64) {
        for (key, message) in change where request >= entries[key]?.request ?? 0 {
            count += (message == nil ? 0 : 1) - (entries[key]?.message == nil ? 0 : 1)
            entries[key] = Entry(request: request, message: message)
        }
    }

    /// Forgets documents that are no longer leased, when no earlier request can restore them.
    /// - Parameter request: The oldest unanswered request.
    mutating func forgetWithdrawn(before request: UInt64) {
        guard count < entries.count else { return }
        entries = entries.filter { $0.value.message != nil || $0.value.request >= request }
    }

    /// All leased documents, divided into batches. Documents that unanswered batches change are left out.
    func batches(except changing: Set<Key>) -> [[PublishedMessage]] {
        let messages = entries.filter { !changing.contains($0.key) }.values
            .sorted { $0.request < $1.request }.compactMap(\.message)
        var batches: [[PublishedMessage]] = []
        var size = 0
        for message in messages {
            size += message.size
            if batches.isEmpty || size > Limits.maximumFrameSize
                || batches[batches.count - 1].count == Limits.batchCount
            {
                batches.append([])
                size = message.size
            }
            batches[batches.count - 1].append(message)
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
