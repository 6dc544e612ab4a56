/// What the journal knows of a topic.
struct TopicRow {
    let id: Int64
    /// The offset of its last message.
    var head: UInt64
}
