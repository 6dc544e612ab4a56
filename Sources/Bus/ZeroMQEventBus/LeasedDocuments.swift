internal import BusProtocol
internal import EventBus

/// The documents that this client leases, as they were last journalled: when the bus has withdrawn them, they are published again
/// as they are.
struct LeasedDocuments {
    struct Key: Hashable {
        let type: MessageType
        let subject: String
        let key: String
    }

    /// What a batch makes of documents once it is journalled: nil for one that is not leased any more.
    typealias Change = [Key: PublishedMessage?]

    private struct Entry {
        /// The request that brought it last.
        let request: UInt64
        let message: PublishedMessage?
    }

    private var entries: [Key: Entry] = [:]
    /// Those of all documents that were ever leased: few, and looked for in every batch.
    private var types: [MessageType] = []

    /// Documents that the bus should hold.
    private(set) var count = 0

    /// - Parameter packed: the messages of the batch as they are sent: the documents are pieces of it.
    /// - Returns: `nil` for a batch that changes nothing.
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

    /// Takes note of a batch that is journalled. An answer that was sent again may come after those of later requests.
    mutating func apply(_ change: Change, of request: UInt64) {
        for (key, message) in change where request >= entries[key]?.request ?? 0 {
            count += (message == nil ? 0 : 1) - (entries[key]?.message == nil ? 0 : 1)
            entries[key] = Entry(request: request, message: message)
        }
    }

    /// Forgets documents that are not leased any more, once no earlier request can bring them back.
    mutating func forgetWithdrawn(before request: UInt64) {
        guard count < entries.count else { return }
        entries = entries.filter { $0.value.message != nil || $0.value.request >= request }
    }

    /// All of them in batches, but for those that are about to change anyway.
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
    /// Bytes that it takes in a frame: with the lengths of its texts and blobs.
    fileprivate var size: Int {
        topic.utf8.count + subject.utf8.count + key.utf8.count + header.count + data.count + 14
    }
}
