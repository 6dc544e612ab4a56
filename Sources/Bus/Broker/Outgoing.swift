package import BusProtocol

/// What one turn sends, the feed first: whoever gets an acknowledgement can already be heard.
package struct Outgoing {
    package var feed: [FeedMessage] = []
    /// Replies, and notices to those who serve queries.
    package private(set) var frames: [(peer: [UInt8], frames: [[UInt8]])] = []

    package init() {}

    mutating func reply(_ reply: Reply, to message: Incoming, _ head: RequestHead) {
        frames.append((message.peer, reply.frames(to: head)))
    }

    mutating func reply(_ page: PackedPage, to message: Incoming, _ head: RequestHead) {
        frames.append((message.peer, page.frames(to: head)))
    }

    /// Answers what could not be read, with as much of its first frame as a head has.
    mutating func refuse(_ message: Incoming, _ error: ProtocolError) {
        var head = Array((message.frames.first ?? []).prefix(RequestHead.length))
        // A reply to what only a broker sends would look like a query itself: it names no operation.
        if (try? RequestHead(head).operation) == .query { head[RequestHead.operationIndex] = 0 }
        frames.append((message.peer, Reply.refused(error).frames(head: head)))
    }

    mutating func send(_ frames: [[UInt8]], to peer: [UInt8]) {
        self.frames.append((peer, frames))
    }
}
