internal import BusProtocol

/// What became of a batch: the messages as they go out, and where the batch ended.
struct Appended {
    let messages: [FeedMessage]
    let offset: UInt64
}
