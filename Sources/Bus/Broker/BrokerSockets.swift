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
    private let connections: ConnectionLimiter
    /// Nil while the socket is being renewed.
    private var (ingress, feed): (Socket?, Socket?) = (nil, nil)
    private var watches: [ConnectionTable.Side: ConnectionWatch] = [:]
    private var subscriptions = Subscriptions()
    /// The descriptors of the TCP connections of the ingress, by peer.
    private var descriptors: [[UInt8]: Int32] = [:]

    /// The maximum number of subscriptions that ``receiveSubscriptions()`` reads.
    private static let subscriptionCount = 512
    /// The number of requests at which ``receiveRequests(_:)`` ends on a bus with keys: more than a turn has, because
    /// libzmq takes one from each connection, and those of other users may wait behind those of one.
    private static let requestCount = 256
    /// The number of bytes that a TCP peer has not read at which larger messages than ``smallSize`` are dropped.
    private static let (unreadSize, smallSize) = (1 << 20, 1024)
    /// The number of bytes for one TCP peer in a turn beyond which only the first message is sent: the kernel does not
    /// know yet what libzmq has not passed to it.
    private static let turnSize = 4 << 20
    /// The number of peers of which the descriptors are known.
    private static let peerCount = 100_000
    /// The maximum number of frames of a request, which is sufficient for all its filters. Further frames are dropped.
    private static let frameCount = Limits.filterCount + 8

    /// The milliseconds after which a TCP connection ends whose peer reads nothing of what waits for it.
    private static let unreadLimit: Int32 = 30_000

    /// Creates and binds the sockets.
    ///
    /// - Parameters:
    ///   - keys: Registered with the ``Authenticator``. Nil for a bus without keys.
    ///   - connectionLimit: The maximum number of connections. Nil for as many as there are descriptors for.
    /// - Throws: ``BusError`` with code `address` and the name of the endpoint if a socket cannot be bound.
    init(_ address: BusAddress, keys: BrokerKeys?, connectionLimit: Int?, _ userLimits: UserLimits) throws {
        connections = ConnectionLimiter(limit: connectionLimit, userLimits)
        self.address = address
        self.keys = keys
        do {
            try bind()
        } catch let error as ZeroMQError {
            let recovery = error.isAddressInUse ? "; another program uses this endpoint: choose another address" : ""
            throw BusError(.address, "the broker cannot listen: \(error)\(recovery)")
        }
    }

    deinit {
        close()
    }

    private static func options(_ keys: BrokerKeys?, domain: (BrokerKeys) -> String) -> [SocketOption] {
        [
            // The backlog stays at libzmq's 100: a longer one lets a flood take more descriptors at once.
            .linger(0), .maximumFrameSize(Int64(Limits.maximumFrameSize)), .maximumRetransmission(unreadLimit),
            .handshakeInterval(Int32(ConnectionLimiter.handshakeLimit / .milliseconds(1))),
        ]
            + SocketOption.tcpKeepalive
            + (keys.map { SocketOption.curveServer(secretKey: $0.own.keys.secretKey, domain: domain($0)) } ?? [])
    }

    /// Creates and binds the sockets that are closed.
    private func bind() throws {
        if ingress == nil {
            // A reply that does not fit is dropped.
            let marks: [SocketOption] = [.receiveHighWaterMark(64), .sendHighWaterMark(1024)]
            ingress = try bind(.router, marks + [.routerMandatory], to: address.ingress, .ingress)
        }
        if feed == nil {
            // A message that does not fit is dropped.
            feed = try bind(.xpub, [.xpubVerbose, .sendHighWaterMark(2048)], to: address.feed, .feed)
        }
    }

    /// Creates a socket whose connections are bounded. Those without a key are counted on the ingress only, because a
    /// client connects to both sockets. Peers that do not use CURVE never reach the authenticator.
    private func bind(
        _ type: SocketType, _ options: [SocketOption], to endpoint: String, _ side: ConnectionTable.Side
    ) throws -> Socket {
        let common = Self.options(keys) { side == .ingress ? $0.domain : $0.feedDomain }
        let socket = try Socket(type, options: common + options)
        let watch = try connections.watch(socket, of: side) { [keys] address in
            if side == .ingress { keys?.refuseMechanism(from: address) }
        }
        do {
            try socket.bind(endpoint)
        } catch {
            connections.stopWatching(watch, of: side)
            throw error
        }
        watches[side] = watch
        return socket
    }

    // MARK: Watching

    /// The watches of the sockets that are open, for their thread.
    func socketWatches(onRequests: @escaping () -> Void, onSubscriptions: @escaping () -> Void) -> [SocketWatch] {
        [(ingress, onRequests), (feed, onSubscriptions)].compactMap { socket, onReadable in
            socket.map { SocketWatch($0, onReadable: onReadable) }
        }
    }

    /// The connections since the last call that were ended so that others have room.
    func drainEndedConnections() -> EndedConnections { connections.drainEnded() }

    /// Ends connections that are silent. Called once a second.
    func checkConnections() { connections.check() }

    // MARK: Renewing

    /// Closes both sockets with all their connections, and drops what waits to be sent. Their watches must be removed
    /// before. Over IPC, a connection that the authenticator has accepted cannot be closed alone.
    func close() {
        try? ingress?.unbind(address.ingress)
        try? feed?.unbind(address.feed)
        (ingress, feed) = (nil, nil)
        for (side, watch) in watches { connections.stopWatching(watch, of: side) }
        watches = [:]
        descriptors = [:]
        subscriptions.forgetSignals()
    }

    /// Binds the sockets that are closed anew. Clients connect to them by themselves.
    /// - Returns: False if an endpoint is still in use, because libzmq closes sockets on another thread, or if the process
    ///   has few descriptors at the moment: try again.
    func reopen() throws -> Bool {
        // Without a descriptor, libzmq's look-up of an address aborts the process.
        guard DescriptorLimit.hasRoom(for: 16) else { return false }
        do {
            // Over IPC, a new socket replaces the file of the closed one, which libzmq does not remove.
            try bind()
            return true
        } catch let error as ZeroMQError where error.isAddressInUse {
            return false
        }
    }

    // MARK: Receiving and sending

    /// Receives requests. On a bus without keys, at most those of a turn: the others wait in the queues of libzmq.
    func receiveRequests(_ turns: inout RequestTurns) throws {
        var count = 0
        let properties = properties
        var senders: [ConnectionTable.Sender] = []
        var overflown: [ConnectionTable.Sender] = []
        defer {
            connections.speak(senders, of: .ingress)
            connections.endOverflown(overflown)
        }
        while keys == nil ? !turns.isFull : count < Self.requestCount {
            guard let message = try ingress?.receive(frameLimit: Self.frameCount, reading: properties) else {
                connections.speak(senders, of: .ingress)
                senders = []
                return connections.checkWatched()
            }
            count += 1
            let sender = ConnectionTable.Sender(message)
            guard let request = Incoming(message) else { continue }
            if let sender {
                if sender != senders.last { senders.append(sender) }
                if descriptors.count > Self.peerCount { descriptors = [:] }
                descriptors[request.peer] = sender.descriptor
            }
            if turns.add(request) == .overflown, let sender { overflown.append(sender) }
        }
    }

    /// The properties of a message to read. Over IPC, libzmq does not know the descriptor.
    private var properties: Socket.SenderProperties {
        var properties: Socket.SenderProperties = keys == nil ? [] : .user
        if address.directory == nil { properties.insert(.descriptor) }
        return properties
    }

    /// A new subscription.
    struct Subscription {
        let topic: [UInt8]
        /// Nil on a bus without keys.
        let user: String?
        /// The descriptor of its connection; nil over `ipc://`.
        let descriptor: Int32?
    }

    /// Receives subscriptions, and the number of messages that were not valid ones. `hasMore` is false if all that have
    /// arrived were received.
    func receiveSubscriptions() throws -> (new: [Subscription], garbageCount: Int, hasMore: Bool) {
        var new: [Subscription] = []
        var hasMore = true
        var changes: [(sender: ConnectionTable.Sender, isEnd: Bool)] = []
        defer {
            connections.speak(changes.map(\.sender), of: .feed)
            connections.subscribe(changes)
        }
        for _ in 0..<Self.subscriptionCount {
            guard let message = try feed?.receive(frameLimit: 2, reading: properties) else {
                hasMore = false
                break
            }
            if let sender = ConnectionTable.Sender(message) {
                changes.append((sender, isEnd: message.frames.first?.first == 0))
            }
            if let topic = subscriptions.handle(message.frames) {
                new.append(Subscription(topic: topic, user: message.user, descriptor: message.descriptor))
            }
        }
        return (new, subscriptions.drainGarbageCount(), hasMore)
    }

    /// Ends the connections of subscriptions, so that nothing more is sent over them.
    /// - Returns: False if one cannot be ended alone.
    func end(_ subscriptions: [Subscription]) -> Bool {
        let senders = subscriptions.compactMap { subscription in
            subscription.descriptor.map { ConnectionTable.Sender(descriptor: $0, user: subscription.user) }
        }
        guard senders.count == subscriptions.count else { return false }
        connections.endSubscribers(senders)
        return true
    }

    /// Sends frames on the feed. XPUB drops them for a subscriber whose queue is full and never refuses them.
    func publish(_ frames: [[UInt8]]) throws {
        _ = try feed?.send(frames)
    }

    /// Sends messages on the feed, in packets. Sends nothing until a client has subscribed to messages, and while the
    /// sockets are being renewed: subscribers then read recorded ones from the journal, and transient ones are lost.
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

    /// True if the reply to a request would be dropped, so that it need not be made.
    func isUnread(_ request: Incoming) -> Bool {
        guard request.readsJournal, let descriptor = descriptors[request.peer] else { return false }
        return AcceptedConnection.unreadSize(of: descriptor) > Self.unreadSize
    }

    /// Sends the messages of one turn to their peers. Errors are ignored. What is for a TCP peer that does not read is
    /// dropped: clients ask again.
    func send(_ messages: [(peer: [UInt8], frames: [[UInt8]])]) {
        var sizes: [[UInt8]: Int] = [:]
        for (peer, frames) in messages {
            let size = frames.reduce(0) { $0 + $1.count }
            if size > Self.smallSize, let descriptor = descriptors[peer] {
                let total = sizes[peer, default: 0] + size
                guard AcceptedConnection.unreadSize(of: descriptor) <= Self.unreadSize,
                    total == size || total <= Self.turnSize
                else { continue }
                sizes[peer] = total
            }
            _ = try? ingress?.send([peer] + frames)
        }
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
