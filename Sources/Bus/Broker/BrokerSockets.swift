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
    private var readers = PeerReaders()

    /// The maximum number of subscriptions that ``receiveSubscriptions()`` reads.
    private static let subscriptionCount = 512
    /// The number of requests at which ``receiveRequests(_:)`` ends on a bus with keys: more than a turn has, because
    /// libzmq takes one from each connection, and those of other users may wait behind those of one.
    private static let requestCount = 256
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
        readers = PeerReaders()
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
                return connections.checkWatched(of: .ingress)
            }
            count += 1
            let sender = ConnectionTable.Sender(message)
            guard let request = Incoming(message.frames, user: message.user) else { continue }
            if let sender {
                if sender != senders.last { senders.append(sender) }
                readers.record(request.peer, descriptor: sender.descriptor)
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
            if !hasMore { connections.checkWatched(of: .feed) }
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
    func isUnread(_ request: Incoming) -> Bool { request.readsJournal && !readers.isReading(request.peer) }

    /// Sends the messages of one turn to their peers. Errors are ignored. What is for a TCP peer that does not read is
    /// dropped: clients ask again.
    func send(_ messages: [(peer: [UInt8], frames: [[UInt8]])]) {
        readers.beginTurn()
        for (peer, frames) in messages where readers.admits(frames, to: peer) {
            _ = try? ingress?.send([peer] + frames)
        }
    }
}
