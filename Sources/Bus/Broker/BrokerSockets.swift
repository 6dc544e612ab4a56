internal import BusProtocol
internal import EventBus
internal import ZeroMQ

/// The two sockets of a broker. Like them, it belongs to one thread.
final class BrokerSockets {
    private let ingress: Socket
    private let feed: Socket
    private var subscriptions = Subscriptions()

    /// Requests, and bytes, taken in one turn, and so journalled in one commit.
    private static let turnCount = 512
    private static let turnSize = 16 * 1024 * 1024
    /// No request has more: it would be one that asks with every filter there can be.
    private static let frameCount = Limits.filterCount + 8

    /// What peers that do not read, or never stop writing, can cost of memory:
    /// - ingress: 64 requests waiting a peer, each of at most 8 MiB a frame, and one turn of 16 MiB and a request. libzmq
    ///   counts whole messages: one that never ends is not bounded;
    /// - replies: 1024 a peer, most of them 50 bytes; a page has 256 KiB and one message more. Fewer would drop answers to
    ///   batches, of which a publisher has as many under way;
    /// - feed: 2048 messages a subscriber, each of at most 16 KiB and its topic: 33 MiB. libzmq keeps a table of all
    ///   subscriptions, which has no bound.
    /// - Throws: ``BusError`` with code `address`, naming the endpoint.
    init(_ address: BusAddress) throws {
        let common: [SocketOption] =
            [.linger(0), .maximumFrameSize(Int64(Limits.maximumFrameSize))] + SocketOption.tcpKeepalive
        // What does not fit is dropped, and asked for again.
        let ingressMarks: [SocketOption] = [.receiveHighWaterMark(64), .sendHighWaterMark(1024)]
        ingress = try Socket(.router, options: common + ingressMarks + [.routerMandatory])
        // Beyond it the subscriber reads from the journal.
        feed = try Socket(.xpub, options: common + [.xpubVerbose, .sendHighWaterMark(2048)])
        do {
            try ingress.bind(address.ingress)
            try feed.bind(address.feed)
        } catch let error as ZeroMQError {
            let hint = error.isAddressInUse ? "; another program has it: choose another address" : ""
            throw BusError(.address, "the broker cannot listen: \(error)\(hint)")
        }
    }

    /// What the thread of the sockets has to watch.
    func watches(
        onRequests: @escaping () -> Void, onSubscriptions: @escaping () -> Void
    ) -> [SocketWatch] {
        [SocketWatch(ingress, onReadable: onRequests), SocketWatch(feed, onReadable: onSubscriptions)]
    }

    func receiveRequests() throws -> [Incoming] {
        var requests: [Incoming] = []
        var size = 0
        while requests.count < Self.turnCount, size < Self.turnSize,
            let message = try ingress.receive(frameLimit: Self.frameCount)
        {
            guard let request = Incoming(message) else { continue }
            size += message.reduce(0) { $0 + $1.count }
            requests.append(request)
        }
        return requests
    }

    /// The inboxes that were subscribed to, and how much came that is no subscription.
    func receiveInboxes() throws -> (inboxes: [[UInt8]], garbageCount: Int) {
        var inboxes: [[UInt8]] = []
        for _ in 0..<Self.turnCount {
            guard let frames = try feed.receive(frameLimit: 2) else { break }
            if let inbox = subscriptions.take(frames) { inboxes.append(inbox) }
        }
        return (inboxes, subscriptions.takeGarbageCount())
    }

    /// XPUB drops for a peer whose queue is full and never refuses.
    func publish(_ frames: [[UInt8]]) throws {
        _ = try feed.send(frames)
    }

    /// Sends messages straight from where they lie; none while nobody has subscribed.
    func publish(_ messages: [FeedMessage]) throws {
        guard subscriptions.isHeard else { return }
        try messages.forEachPacket { packet in
            var topic = packet.topic
            try topic.withUTF8 { try feed.send(UnsafeRawBufferPointer($0), more: true) }
            try packet.body.withUnsafeBytes { try feed.send($0, more: false) }
        }
    }

    /// A peer that has gone or does not read its replies asks again when it is back.
    func send(_ frames: [[UInt8]], to peer: [UInt8]) {
        _ = try? ingress.send([peer] + frames)
    }
}

/// What the broker's feed is told: who subscribes to what. Only two things are of interest: which inboxes want an answer, and
/// whether anybody has ever subscribed to more. Who no longer does is libzmq's to know: it passes the end of a subscription
/// on also when it comes from somebody who never had it.
struct Subscriptions {
    private(set) var isHeard = false
    /// What came that no client of the protocol sends.
    private(set) var garbageCount = 0

    /// - Parameter frames: as XPUB hands them over: one frame a subscription, 1 and the topic; or 0 and the topic when nobody
    ///   has it any more.
    /// - Returns: the inbox that was subscribed to, if it is one.
    mutating func take(_ frames: [[UInt8]]) -> [UInt8]? {
        guard let frame = frames.first, frames.count == 1, let mark = frame.first, mark <= 1 else {
            garbageCount += 1
            return nil
        }
        let topic = Array(frame.dropFirst())
        let isInbox = topic.starts(with: Inbox.mark.utf8)
        guard topic.count <= (isInbox ? Inbox.maximumLength : Topic.maximumLength) else {
            garbageCount += 1
            return nil
        }
        guard mark == 1 else { return nil }
        if !isInbox { isHeard = true }
        return isInbox ? topic : nil
    }

    mutating func takeGarbageCount() -> Int {
        defer { garbageCount = 0 }
        return garbageCount
    }
}
