internal import BusProtocol
internal import EventBus

/// What the journal knows of a topic. A class, so that looking at it for every message copies nothing.
final class TopicEntry {
    let id: Int64
    let name: String
    let bytes: [UInt8]
    /// `kind.` and `kind.Name.`: what a filter for it can be besides its name.
    let prefixes: [String]
    let type: [UInt8]
    let partition: Partition
    let isDocument: Bool
    /// XXH64 of the name.
    let hash: UInt64
    /// The offset of its last message.
    var head: UInt64
    /// Whether `head` has grown in the transaction under way.
    var hasMoved = false
    /// Another topic with the same hash.
    var next: Int?

    init(id: Int64, topic: Topic, head: UInt64) {
        self.id = id
        name = topic.name
        bytes = Array(name.utf8)
        prefixes = ["\(topic.type.kind.rawValue).", "\(topic.type)."]
        type = Array(topic.type.description.utf8)
        partition = topic.partition
        isDocument = topic.type.kind == .document
        hash = bytes.withUnsafeBytes { XXH64.hash($0) }
        self.head = head
    }

    func matches(_ filters: Set<String>) -> Bool {
        filters.contains(name) || prefixes.contains { filters.contains($0) }
    }
}
