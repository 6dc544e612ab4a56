internal import BusProtocol

/// What one turn sends, the feed first: whoever gets an acknowledgement can already be heard.
struct Outgoing {
    var feed: [FeedMessage] = []
    private(set) var replies: [(peer: [UInt8], frames: [[UInt8]])] = []

    mutating func reply(_ reply: Reply, to message: Incoming, _ head: RequestHead) {
        replies.append((message.peer, reply.frames(to: head)))
    }

    /// Answers what could not be read, with the first frame as it came.
    mutating func reply(_ reply: Reply, to message: Incoming) {
        replies.append((message.peer, reply.frames(head: message.frames.first ?? [])))
    }
}
