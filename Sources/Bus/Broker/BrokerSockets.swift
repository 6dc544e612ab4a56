internal import BusAccess
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
    private let ingress: Socket
    /// Nil while the feed is being renewed.
    private var feed: Socket?
    private var watches: [ConnectionTable.Side: ConnectionWatch] = [:]
    private var subscriptions = Subscriptions()
    /// Last, because it must receive events until the sockets are closed: libzmq's own thread waits while too many wait.
    private let connections: ConnectionLimiter

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
        ingress = try Socket(.router, options: Self.options(keys, \.domain) + marks + [.routerMandatory])
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

    private static func options(_ keys: BrokerKeys?, _ domain: (BrokerKeys) -> String) -> [SocketOption] {
        [
            .linger(0), .maximumFrameSize(Int64(Limits.maximumFrameSize)),
            .handshakeInterval(Int32(ConnectionLimiter.handshakeLimit / .milliseconds(1))),
        ]
            + SocketOption.tcpKeepalive
            + (keys.map { SocketOption.curveServer(secretKey: $0.own.keys.secretKey, domain: domain($0)) } ?? [])
    }

    private static func feed(_ keys: BrokerKeys?) throws -> Socket {
        // A message that does not fit is dropped.
        try Socket(.xpub, options: options(keys, \.feedDomain) + [.xpubVerbose, .sendHighWaterMark(2048)])
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
        subscriptions.forgetSignals()
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

    /// Receives subscriptions: the topics that were subscribed to, with their users on a bus with keys, and the number
    /// of messages that were not valid subscriptions.
    func receiveSubscriptions() throws -> (new: [(topic: [UInt8], user: String?)], garbageCount: Int) {
        var new: [(topic: [UInt8], user: String?)] = []
        var senders: [Int32] = []
        defer { connections.prove(senders, of: .feed) }
        let properties: Socket.SenderProperties = keys == nil ? .descriptor : [.descriptor, .user]
        for _ in 0..<Self.turnCount {
            guard let message = try feed?.receive(frameLimit: 2, reading: properties) else { break }
            if let sender = message.descriptor, sender != senders.last { senders.append(sender) }
            if let topic = subscriptions.handle(message.frames) { new.append((topic, message.user)) }
        }
        return (new, subscriptions.drainGarbageCount())
    }

    /// Sends frames on the feed. XPUB drops them for a subscriber whose queue is full and never refuses them.
    func publish(_ frames: [[UInt8]]) throws {
        _ = try feed?.send(frames)
    }

    /// Sends messages on the feed, in packets. Sends nothing until a client has subscribed to messages, and while the
    /// feed is being renewed: subscribers then read recorded ones from the journal, and transient ones are lost.
    func publish(_ messages: [FeedMessage]) throws {
        guard let feed else { return }
        for (topic, message) in subscriptions.signals(for: messages) {
            _ = try feed.send(
                Inbox.answer(topic: Array(topic.utf8), epoch: message.epoch, head: message.offset))
        }
        guard subscriptions.hasSubscriber else { return }
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
    /// The signals that devices have subscribed to.
    private var signals: Set<String> = []
    /// The maximum number of signals. Devices beyond it are told nothing, and compare heads.
    private static let signalCapacity = 10_000
    /// The number of messages that were not valid subscriptions.
    private(set) var garbageCount = 0

    /// - Parameter frames: A message of the XPUB socket: one frame with 1 and the topic for a subscription, or with 0
    ///   and the topic after its last subscriber has ended it.
    /// - Returns: The topic that was subscribed to; nil if the message is not a subscription.
    mutating func handle(_ frames: [[UInt8]]) -> [UInt8]? {
        guard let frame = frames.first, frames.count == 1, let mark = frame.first, mark <= 1 else {
            garbageCount += 1
            return nil
        }
        let topic = Array(frame.dropFirst())
        let isOfMessages = !topic.starts(with: Inbox.mark.utf8)
        guard topic.count <= (isOfMessages ? Topic.maximumLength : Inbox.maximumLength) else {
            garbageCount += 1
            return nil
        }
        if SessionSignal.isTopic(topic) { setSignal(String(decoding: topic, as: UTF8.self), isWanted: mark == 1) }
        guard mark == 1 else { return nil }
        if isOfMessages { hasSubscriber = true }
        return topic
    }

    private mutating func setSignal(_ topic: String, isWanted: Bool) {
        if !isWanted { signals.remove(topic) } else if signals.count < Self.signalCapacity { signals.insert(topic) }
    }

    /// Forgets the signals of a feed that is closed.
    mutating func forgetSignals() { signals = [] }

    /// The last recorded message for each signal that has subscribers.
    func signals(for messages: [FeedMessage]) -> [String: FeedMessage] {
        guard !signals.isEmpty else { return [:] }
        var last: [String: FeedMessage] = [:]
        for message in messages where message.offset > 0 {
            guard let session = message.origin?.session else { continue }
            let signal = SessionSignal.topic(of: session)
            if signals.contains(signal) { last[signal] = message }
            guard session == Session.default, let type = Topic(message.topic)?.type, PlatformAccess.areShared(type)
            else { continue }
            for signal in signals { last[signal] = message }
        }
        return last
    }

    mutating func drainGarbageCount() -> Int {
        defer { garbageCount = 0 }
        return garbageCount
    }
}
