internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import ZeroMQ

/// The two sockets of a broker. A libzmq socket may be used on one thread only; the same applies to this class.
final class BrokerSockets {
    private let ingress: Socket
    private let feed: Socket
    private var subscriptions = Subscriptions()

    /// The maximum number of requests that ``receiveRequests()`` returns, and of messages that ``receiveInboxes()``
    /// reads.
    private static let turnCount = 512
    /// The size in bytes at which ``receiveRequests()`` ends early: no further request is received. A request for a
    /// page counts as a whole page, so that the broker does not work for seconds before it receives again.
    private static let turnSize = 4 * 1024 * 1024
    /// The maximum number of frames of a request, which is sufficient for all its filters. Further frames are dropped.
    private static let frameCount = Limits.filterCount + 8

    /// Creates and binds the sockets.
    ///
    /// - Throws: ``BusError`` with code `address` and the name of the endpoint if a socket cannot be bound.
    init(_ address: BusAddress) throws {
        let common: [SocketOption] =
            [.linger(0), .maximumFrameSize(Int64(Limits.maximumFrameSize))] + SocketOption.tcpKeepalive
        // A reply that does not fit is dropped.
        let ingressMarks: [SocketOption] = [.receiveHighWaterMark(64), .sendHighWaterMark(1024)]
        ingress = try Socket(.router, options: common + ingressMarks + [.routerMandatory])
        // A message that does not fit is dropped.
        feed = try Socket(.xpub, options: common + [.xpubVerbose, .sendHighWaterMark(2048)])
        do {
            try ingress.bind(address.ingress)
            try feed.bind(address.feed)
        } catch let error as ZeroMQError {
            let recovery = error.isAddressInUse ? "; another program uses this endpoint: choose another address" : ""
            throw BusError(.address, "the broker cannot listen: \(error)\(recovery)")
        }
    }

    /// The watches for the thread of the sockets.
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
            if let head = try? request.head(), head.operation.isSearch { size += Limits.pageSize }
            requests.append(request)
        }
        return requests
    }

    /// Receives subscriptions. Returns the inboxes that were subscribed to, and the number of messages that were not
    /// valid subscriptions.
    func receiveInboxes() throws -> (inboxes: [[UInt8]], garbageCount: Int) {
        var inboxes: [[UInt8]] = []
        for _ in 0..<Self.turnCount {
            guard let frames = try feed.receive(frameLimit: 2) else { break }
            if let inbox = subscriptions.handle(frames) { inboxes.append(inbox) }
        }
        return (inboxes, subscriptions.drainGarbageCount())
    }

    /// Sends frames on the feed. XPUB drops them for a subscriber whose queue is full and never refuses them.
    func publish(_ frames: [[UInt8]]) throws {
        _ = try feed.send(frames)
    }

    /// Sends messages on the feed, in packets. Sends nothing until a client has subscribed to messages.
    func publish(_ messages: [FeedMessage]) throws {
        guard subscriptions.hasSubscriber else { return }
        try messages.forEachPacket { packet in
            var topic = packet.topic
            try topic.withUTF8 { try feed.send(UnsafeRawBufferPointer($0), more: true) }
            try packet.body.withUnsafeBytes { try feed.send($0, more: false) }
        }
    }

    /// Sends frames to a peer. Errors are ignored.
    func send(_ frames: [[UInt8]], to peer: [UInt8]) {
        _ = try? ingress.send([peer] + frames)
    }
}

/// The subscriptions that the feed receives.
struct Subscriptions {
    /// True if a client has subscribed to messages since the broker was started.
    private(set) var hasSubscriber = false
    /// The number of messages that were not valid subscriptions.
    private(set) var garbageCount = 0

    /// - Parameter frames: A message of the XPUB socket: one frame with 1 and the topic for a subscription, or with 0
    ///   and the topic after its last subscriber has ended it.
    /// - Returns: The inbox that was subscribed to; nil if the message is not the subscription of an inbox.
    mutating func handle(_ frames: [[UInt8]]) -> [UInt8]? {
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
        if !isInbox { hasSubscriber = true }
        return isInbox ? topic : nil
    }

    mutating func drainGarbageCount() -> Int {
        defer { garbageCount = 0 }
        return garbageCount
    }
}
