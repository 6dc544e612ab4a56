internal import BusFormat
internal import BusKeys
internal import BusProtocol
internal import EventBus
internal import SystemSupport
internal import ZeroMQ

/// The two sockets of a broker. A libzmq socket may be used on one thread only; the same applies to this class.
final class BrokerSockets {
    private let address: BusAddress
    private let keys: BrokerKeys?
    private let connections: ConnectionLimiter
    private let ingress: Socket
    /// Nil while the feed is being renewed.
    private var feed: Socket?
    private var watches: [ConnectionTable.Side: ConnectionWatch] = [:]
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
    /// - Parameters:
    ///   - keys: Registered with the ``Authenticator``. Nil for a bus without keys.
    ///   - connectionLimit: The maximum number of connections. Nil for as many as there are descriptors for.
    /// - Throws: ``BusError`` with code `address` and the name of the endpoint if a socket cannot be bound.
    init(_ address: BusAddress, keys: BrokerKeys?, connectionLimit: Int?) throws {
        connections = ConnectionLimiter(limit: connectionLimit)
        self.address = address
        self.keys = keys
        // A reply that does not fit is dropped.
        let marks: [SocketOption] = [.receiveHighWaterMark(64), .sendHighWaterMark(1024)]
        ingress = try Socket(.router, options: Self.options(keys) + marks + [.routerMandatory])
        let feed = try Self.feed(keys)
        self.feed = feed
        try watchConnections(of: ingress, .ingress)
        try watchConnections(of: feed, .feed)
        do {
            try ingress.bind(address.ingress)
            try feed.bind(address.feed)
        } catch let error as ZeroMQError {
            let recovery = error.isAddressInUse ? "; another program uses this endpoint: choose another address" : ""
            throw BusError(.address, "the broker cannot listen: \(error)\(recovery)")
        }
    }

    private static func options(_ keys: BrokerKeys?) -> [SocketOption] {
        [
            .linger(0), .maximumFrameSize(Int64(Limits.maximumFrameSize)),
            .handshakeInterval(Int32(ConnectionLimiter.handshakeLimit / .milliseconds(1))),
        ]
            + SocketOption.tcpKeepalive
            + (keys.map { SocketOption.curveServer(secretKey: $0.own.keys.secretKey, domain: $0.domain) } ?? [])
    }

    private static func feed(_ keys: BrokerKeys?) throws -> Socket {
        // A message that does not fit is dropped.
        try Socket(.xpub, options: options(keys) + [.xpubVerbose, .sendHighWaterMark(2048)])
    }

    // MARK: Watching

    /// The watch of the ingress, for the thread of the sockets.
    func ingressWatch(_ onRequests: @escaping () -> Void) -> SocketWatch {
        SocketWatch(ingress, onReadable: onRequests)
    }

    /// The watch of the present feed.
    func feedWatch(_ onSubscriptions: @escaping () -> Void) -> SocketWatch? {
        feed.map { SocketWatch($0, onReadable: onSubscriptions) }
    }

    /// Bounds the connections of a socket that is not bound yet, and counts those without a key on the ingress: peers
    /// that do not use CURVE never reach the authenticator. On the feed they are not counted, because a client connects
    /// to both.
    private func watchConnections(of socket: Socket, _ side: ConnectionTable.Side) throws {
        watches[side] = try connections.watch(socket, of: side) { [keys] address in
            if side == .ingress { keys?.refuseMechanism(from: address) }
        }
    }

    /// The connections since the last call that were ended because there were too many.
    func drainEndedConnections() -> EndedConnections { connections.drainEnded() }

    var connectionLimit: Int { connections.limit }

    // MARK: Renewing the feed

    /// Closes the feed with all its connections. Its watches must be removed before. A connection that the
    /// authenticator has accepted cannot be closed alone.
    func closeFeed() {
        try? feed?.unbind(address.feed)
        feed = nil
        if let watch = watches.removeValue(forKey: .feed) { connections.stopWatching(watch, of: .feed) }
    }

    /// Binds a new feed. Subscribers connect to it by themselves.
    /// - Returns: False if the endpoint is still in use, because libzmq closes sockets on another thread, or if the
    ///   process has few descriptors at the moment: try again.
    func openFeed() throws -> Bool {
        // Without a descriptor, libzmq's look-up of an address aborts the process.
        guard DescriptorLimit.hasRoom(for: 16) else { return false }
        // Over IPC, the new socket replaces the file of the closed one, which libzmq does not remove.
        let new = try Self.feed(keys)
        do {
            try watchConnections(of: new, .feed)
            try new.bind(address.feed)
        } catch let error as ZeroMQError where error.isAddressInUse {
            return false
        }
        feed = new
        return true
    }

    // MARK: Receiving and sending

    func receiveRequests() throws -> [Incoming] {
        var requests: [Incoming] = []
        var size = 0
        let properties = properties
        var senders: [Int32] = []
        defer { connections.prove(senders, of: .ingress) }
        while requests.count < Self.turnCount, size < Self.turnSize,
            let message = try ingress.receive(frameLimit: Self.frameCount, reading: properties)
        {
            if let sender = message.descriptor, sender != senders.last { senders.append(sender) }
            guard let request = Incoming(message.frames, user: message.user) else { continue }
            size += message.frames.reduce(0) { $0 + $1.count }
            if let head = try? request.head(), head.operation.isSearch { size += Limits.pageSize }
            requests.append(request)
        }
        return requests
    }

    /// The properties of a message to read. The connection is of interest only while one has not proved its key.
    private var properties: Socket.SenderProperties {
        var properties: Socket.SenderProperties = keys == nil ? [] : .user
        if connections.hasPending { properties.insert(.descriptor) }
        return properties
    }

    /// Receives subscriptions. Returns the inboxes that were subscribed to, and the number of messages that were not
    /// valid subscriptions.
    func receiveInboxes() throws -> (inboxes: [[UInt8]], garbageCount: Int) {
        var inboxes: [[UInt8]] = []
        var senders: [Int32] = []
        defer { connections.prove(senders, of: .feed) }
        for _ in 0..<Self.turnCount {
            guard let message = try feed?.receive(frameLimit: 2, reading: .descriptor) else { break }
            if let sender = message.descriptor, sender != senders.last { senders.append(sender) }
            if let inbox = subscriptions.handle(message.frames) { inboxes.append(inbox) }
        }
        return (inboxes, subscriptions.drainGarbageCount())
    }

    /// Sends frames on the feed. XPUB drops them for a subscriber whose queue is full and never refuses them.
    func publish(_ frames: [[UInt8]]) throws {
        _ = try feed?.send(frames)
    }

    /// Sends messages on the feed, in packets. Sends nothing until a client has subscribed to messages, and while the
    /// feed is being renewed: subscribers then read recorded ones from the journal, and transient ones are lost.
    func publish(_ messages: [FeedMessage]) throws {
        guard let feed, subscriptions.hasSubscriber else { return }
        try messages.forEachPacket { packet in
            var topic = packet.topic
            try topic.withUTF8 { try feed.send(UnsafeRawBufferPointer($0), more: true) }
            let origins = packet.originFrame
            try packet.body.withUnsafeBytes { try feed.send($0, more: origins != nil) }
            try origins?.withUnsafeBytes { try feed.send($0, more: false) }
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
