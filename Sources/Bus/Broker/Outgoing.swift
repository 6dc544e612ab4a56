internal import BusProtocol

/// What one turn sends, the feed first: whoever gets an acknowledgement can already be heard.
struct Outgoing {
    var feed: [FeedMessage] = []
    /// Replies, and notices to those who serve queries.
    private(set) var frames: [(peer: [UInt8], frames: [[UInt8]])] = []

    mutating func reply(_ reply: Reply, to message: Incoming, _ head: RequestHead) {
        frames.append((message.peer, reply.frames(to: head)))
    }

    mutating func reply(_ page: PackedPage, to message: Incoming, _ head: RequestHead) {
        frames.append((message.peer, page.frames(to: head)))
    }

    /// Answers what could not be read, with as much of its first frame as a head has.
    mutating func reply(_ reply: Reply, to message: Incoming) {
        frames.append(
            (message.peer, reply.frames(head: Array((message.frames.first ?? []).prefix(RequestHead.length)))))
    }

    mutating func send(_ frames: [[UInt8]], to peer: [UInt8]) {
        self.frames.append((peer, frames))
    }
}
