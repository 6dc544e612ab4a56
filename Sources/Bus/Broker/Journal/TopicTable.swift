internal import BusFormat
internal import EventBus

/// The topics of the journal. They are looked up by the bytes of their names.
struct TopicTable {
    /// The maximum number of topics. A batch that would exceed the maximum is refused.
    static let capacity = 65_536

    private(set) var entries: [TopicEntry] = []
    private var indices: [UInt64: Int] = [:]
    private var indicesByID: [Int64: Int] = [:]
    private var moved: [Int] = []
    /// The number of topics that each user has begun, on a bus with keys.
    private var counts = UserCounts()
    private let limit: Int
    /// The offset of the last message of each partition.
    private var partitionHeads = [UInt64](repeating: 0, count: Partition.count)

    /// - Parameter limit: The maximum number of topics that a user may begin.
    init(limit: Int = UserLimits().topics) {
        self.limit = limit
    }

    subscript(index: Int) -> TopicEntry { entries[index] }

    func index(of name: UnsafeRawBufferPointer) -> Int? {
        var candidate = indices[XXH64.hash(name)]
        while let index = candidate {
            if entries[index].bytes.withUnsafeBytes({ $0.hasSameBytes(as: name) }) { return index }
            candidate = entries[index].next
        }
        return nil
    }

    func index(of topic: Topic) -> Int? {
        var name = topic.name
        return name.withUTF8 { index(of: UnsafeRawBufferPointer($0)) }
    }

    func index(ofID id: Int64) -> Int? { indicesByID[id] }

    /// Checks that a user can begin `count` topics.
    /// - Parameter publisher: Nil on a bus without keys.
    /// - Throws: ``ProtocolError`` with code `tooLarge`.
    func checkCapacity(for count: Int, of publisher: String?) throws(ProtocolError) {
        guard count > 0 else { return }
        if let publisher, case let own = counts[publisher], own + count > limit {
            throw ProtocolError(
                .tooLarge, "'\(publisher)' has begun \(own) topics already; use fewer types of messages")
        }
        guard entries.count + count <= Self.capacity else {
            throw ProtocolError(.tooLarge, "the bus has \(entries.count) topics already; use fewer types of messages")
        }
    }

    /// Adds a topic.
    /// - Returns: Its index.
    mutating func add(
        _ topic: Topic, id: Int64, head: UInt64, of publisher: String? = nil
    ) throws(ProtocolError) -> Int {
        // What a journal contains may be more than a user may begin now.
        try checkCapacity(for: 1, of: nil)
        if let publisher { counts.add(1, to: publisher) }
        let entry = TopicEntry(id: id, topic: topic, head: head)
        entry.next = indices[entry.hash]
        indices[entry.hash] = entries.count
        indicesByID[id] = entries.count
        entries.append(entry)
        raiseHead(of: topic.partition, to: head)
        return entries.count - 1
    }

    mutating func move(_ index: Int, to head: UInt64) {
        entries[index].head = head
        raiseHead(of: entries[index].partition, to: head)
        guard !entries[index].hasMoved else { return }
        entries[index].hasMoved = true
        moved.append(index)
    }

    func head(of partition: Partition) -> UInt64 { partitionHeads[Int(partition.number)] }

    private mutating func raiseHead(of partition: Partition, to head: UInt64) {
        let index = Int(partition.number)
        partitionHeads[index] = max(partitionHeads[index], head)
    }

    /// The topics whose head has grown since the last call.
    mutating func drainMoved() -> [TopicEntry] {
        for index in moved {
            entries[index].hasMoved = false
        }
        defer { moved.removeAll(keepingCapacity: true) }
        return moved.map { entries[$0] }
    }
}

/// A topic of the journal.
final class TopicEntry {
    let id: Int64
    let name: String
    let bytes: [UInt8]
    /// The prefixes `kind.` and `kind.Name.`. A filter for this topic is one of these prefixes or the whole name.
    let prefixes: [String]
    let type: MessageType
    /// The text of the type.
    let typeBytes: [UInt8]
    let partition: Partition
    let isDocument: Bool
    /// XXH64 of the name.
    let hash: UInt64
    /// The offset of the topic's last message.
    var head: UInt64
    /// True if `head` has grown since the topic was last saved.
    var hasMoved = false
    /// The index of another topic with the same hash; nil if there is none.
    var next: Int?

    init(id: Int64, topic: Topic, head: UInt64) {
        self.id = id
        name = topic.name
        bytes = Array(name.utf8)
        prefixes = ["\(topic.type.kind.rawValue).", "\(topic.type)."]
        type = topic.type
        typeBytes = Array(topic.type.description.utf8)
        partition = topic.partition
        isDocument = topic.type.kind == .document
        hash = bytes.withUnsafeBytes { XXH64.hash($0) }
        self.head = head
    }

    func matches(_ filters: Set<String>) -> Bool {
        filters.contains(name) || prefixes.contains { filters.contains($0) }
    }
}
