internal import BusFormat
internal import EventBus
internal import NATS
internal import NATSLayout
internal import Support

/// The queries of this process: those that it asks, and those that it answers.
///
/// They are messages of core NATS. Each process has an address, `q.to.INSTANCE`, at which it receives queries,
/// cancellations and the answers to the question who serves a type.
actor Queries {
    /// The maximum number of unanswered queries of one call of `serve`. Further ones are refused.
    private static let capacity = 256
    private static let pingInterval = Duration.milliseconds(500)
    /// Two silent pings mean that the other process has ended or is stopped.
    private static let pingTimeout = Duration.milliseconds(2500)
    private static let maximumTimeout = Duration.seconds(1 << 32)
    /// The time after which the processes that serve a type are asked for again.
    static let discoveryTimeout = Duration.seconds(5)

    /// A query that this process works on.
    private struct Work: Sendable {
        let id: QueryID
        let message: PublishedMessage
        /// The subject of the reply.
        let reply: String
        /// Opened when the asker no longer waits.
        let cancellation: Latch
    }

    private struct Server {
        let types: Set<MessageType>
        let work: AsyncStream<Work>.Continuation
        var open: Set<QueryID> = []
    }

    private let journal: JournalConnection
    private let source: String
    private let discoveryTimeout: Duration
    private let instance = ProducerID().hexadecimal
    private var lastNumber: UInt64 = 0
    private var known = QueryServers()
    /// The queries whose answers this process waits for.
    private var asked: Set<QueryID> = []
    private var servers: [UInt64: Server] = [:]
    /// The latches that cancel the work, by query.
    private var cancellations: [QueryID: Latch] = [:]
    private var isClosed = false
    /// Open when this process receives what is sent to it, and after the end.
    private let listening = Latch()

    private var connection: NATSConnection { journal.connection }

    /// - Parameter source: The source of this process, for errors.
    init(_ journal: JournalConnection, source: String, discoveryTimeout: Duration = discoveryTimeout) {
        self.journal = journal
        self.source = source
        self.discoveryTimeout = discoveryTimeout
    }

    /// Receives what is sent to this process until the task is cancelled or the connection is closed.
    /// - Throws: ``BusError`` with code `forbidden` if the user may not subscribe to the address; `CancellationError`.
    func run() async throws {
        defer { close() }
        do {
            try await connection.withSubscription(to: journal.subject(.queries(to: instance))) { subscription in
                try await confirmSubscription()
                listening.open()
                while true {
                    guard case .message(let message) = try await subscription.next() else { continue }
                    receive(message)
                }
            }
        } catch let error as NATSError {
            if error.code != .closed { throw BusError(error) }
        } catch let error as BusError where error.code == .closed {}
    }

    /// Waits until the server has processed the last subscription. A subscription without a connection begins later.
    private func confirmSubscription() async throws {
        try await journal.retrying { try await connection.roundTrip() }
    }

    private func close() {
        isClosed = true
        listening.open()
        for server in servers.values { server.work.finish() }
        servers = [:]
    }

    private func requireOpen() throws {
        if isClosed { throw journal.endError }
    }

    private func receive(_ message: NATSMessage) {
        // Any process may send to this address. An unreadable message is ignored; its sender gets no answer to its
        // pings.
        guard let query = QueryPacket(message) else { return }
        switch query {
        case .ask(let id, let query):
            guard let reply = message.reply else { return }
            handle(id, message: query, reply: reply)
        case .cancel(let id): cancellations.removeValue(forKey: id)?.open()
        case .ping(let id):
            guard let reply = message.reply else { return }
            send(asked.contains(id) || cancellations[id] != nil ? .alive : .unknown, to: reply)
        case .serving(let type, let instance): known.record(instance, serves: type, at: .now)
        }
    }

    private func send(_ reply: QueryReply, to subject: String) {
        do {
            try connection.publish(subject, headers: reply.headers(from: instance), body: reply.body)
        } catch {
            // Without a connection the asker asks again. An answer that is too large for the server is an error.
            guard case .answer = reply else { return }
            send(.failed("the answer cannot be sent: \(error)"), to: subject)
        }
    }

    // MARK: Asking

    /// See ``EventBus/ask(_:timeout:)``.
    func ask(_ query: Envelope, timeout: Duration) async throws -> Envelope {
        try requireOpen()
        guard query.type.kind == .query else { throw BusError(.refused, "\(query.type) is not a query") }
        let message = try PublishedMessage(checking: query)
        let timeout = min(max(timeout, .zero), Self.maximumTimeout)
        return try await withTimeLimit(
            timeout, orThrow: BusError(.deadline, "no answer to \(query.type) came within \(timeout)")
        ) {
            try await self.ask(message, query.type, until: .now + timeout)
        }
    }

    private func ask(
        _ message: PublishedMessage, _ type: MessageType, until deadline: ContinuousClock.Instant
    ) async throws -> Envelope {
        await listening.waitUntilOpenOrCancelled()
        /// The processes that have not accepted the query.
        var tried: Set<String> = []
        var refusal: String?
        while true {
            try Task.checkCancellation()
            try requireOpen()
            do {
                let server = try await nextServer(of: type)
                guard !tried.contains(server) else {
                    throw BusError(.unserved, refusal ?? "no process that serves \(type) can be reached")
                }
                switch try await ask(message, server, until: deadline) {
                case .answer(let header, let data): return try Self.answer(header, data, to: type)
                case .failed(let reason): throw BusError(.cancelled, reason)
                case .refused(let reason):
                    known.remove(server, from: type)
                    tried.insert(server)
                    refusal = reason
                case .alive, .unknown, nil:
                    throw BusError(.cancelled, "the process that serves \(type) sent an answer that cannot be read")
                }
            } catch let error as ServerGone {
                known.remove(error.instance, from: type)
                tried.insert(error.instance)
                if error.hasAccepted {
                    throw BusError(.unserved, "the process that served \(type) has ended")
                }
            } catch let error as NATSError {
                // The servers of the type, or of NATS, may be stopped, or there is no connection. A question may be
                // asked twice.
                guard error.isTemporary else { throw journal.busError(error) }
                try await journal.pause(0)
                tried = []
            }
        }
    }

    private static func answer(_ header: Bytes, _ data: Bytes, to type: MessageType) throws -> Envelope {
        do {
            return try Envelope(header: header, data: data)
        } catch {
            throw BusError(.cancelled, "the process that serves \(type) sent an answer that cannot be read: \(error)")
        }
    }

    /// No process has the address of a server, or it is silent.
    private struct ServerGone: Error {
        let instance: String
        /// True if the query had been sent to it.
        let hasAccepted: Bool
    }

    /// The process whose turn it is.
    /// - Throws: ``BusError`` with code `unserved` if no process serves the type; ``NATSError``.
    private func nextServer(of type: MessageType) async throws -> String {
        let isDue = known.needsRequest(for: type, at: .now)
        if let server = known.next(for: type, at: .now) {
            // The others answer while this one works.
            if isDue { try requestServers(of: type) }
            return server
        }
        let subject = journal.subject(.queryServers(type))
        known.recordRequest(for: type, at: .now)
        do {
            let first = try await connection.request(
                subject, headers: ["Segue-Instance": instance], timeout: discoveryTimeout)
            if case .serving(type, let server) = QueryPacket(first) { known.record(server, serves: type, at: .now) }
        } catch let error as NATSError where error.code == .noResponders {
            throw BusError(.unserved, "no process serves \(type)")
        }
        try await Task.sleep(for: QueryServers.answerTime)
        guard let server = known.next(for: type, at: .now) else {
            throw BusError(.unserved, "no process serves \(type)")
        }
        return server
    }

    private func requestServers(of type: MessageType) throws {
        known.recordRequest(for: type, at: .now)
        try connection.publish(journal.subject(.queryServers(type)), headers: ["Segue-Instance": instance])
    }

    /// Asks one process.
    private func ask(
        _ message: PublishedMessage, _ server: String, until deadline: ContinuousClock.Instant
    ) async throws -> QueryReply? {
        lastNumber += 1
        let id = QueryID(asker: instance, number: lastNumber)
        asked.insert(id)
        defer { asked.remove(id) }
        let (connection, address) = (connection, journal.subject(.queries(to: server)))
        let query = QueryPacket.ask(id, message)
        do {
            return try await withThrowingTaskGroup(of: NATSMessage.self) { group in
                group.addTask {
                    do {
                        return try await connection.request(
                            address, headers: query.headers, body: query.body,
                            timeout: max(deadline - .now, .milliseconds(1)) + .seconds(1),
                            accepting: { QueryReply.isReply($0, from: server) })
                    } catch let error as NATSError where error.code == .noResponders {
                        throw ServerGone(instance: server, hasAccepted: false)
                    } catch let error as NATSError where [.tooLarge, .denied].contains(error.code) {
                        throw BusError(error)
                    }
                }
                group.addTask { try await Self.watch(server, at: address, id: id, through: connection) }
                defer { group.cancelAll() }
                return try await group.next().flatMap { QueryReply($0) }
            }
        } catch {
            // The server need not work on it any longer.
            let cancel = QueryPacket.cancel(id)
            try? connection.publish(address, headers: cancel.headers)
            throw error
        }
    }

    /// Asks a process again and again if it works on a query.
    /// - Throws: ``ServerGone`` if it does not, `CancellationError`.
    private static func watch(
        _ server: String, at address: String, id: QueryID, through connection: NATSConnection
    ) async throws -> Never {
        let ping = QueryPacket.ping(id)
        var silent = 0
        var unknown = 0
        while true {
            try await Task.sleep(for: pingInterval)
            do {
                let reply = try await connection.request(
                    address, headers: ping.headers, timeout: pingTimeout,
                    accepting: { QueryReply.isReply($0, from: server) })
                silent = 0
                // The answer may be on its way when the server says that it does not know the query.
                unknown = QueryReply(reply) == .unknown ? unknown + 1 : 0
            } catch let error as NATSError where error.code == .noResponders {
                throw ServerGone(instance: server, hasAccepted: true)
            } catch let error as NATSError where error.code == .timeout {
                silent += 1
            }
            if silent == 2 || unknown == 2 { throw ServerGone(instance: server, hasAccepted: true) }
        }
    }

    // MARK: Answering

    /// See ``EventBus/serve(_:whenServing:_:)``.
    func serve(
        _ types: [MessageType], whenServing: @escaping @Sendable () -> Void,
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async throws {
        try requireOpen()
        if let type = types.first(where: { $0.kind != .query }) {
            throw BusError(.refused, "\(type) cannot be served because it is not a query")
        }
        await listening.waitUntilOpenOrCancelled()
        try requireOpen()
        // At most `capacity` queries are open, so the stream is bounded.
        let (queries, writer) = AsyncStream.makeStream(of: Work.self)
        lastNumber += 1
        let number = lastNumber
        servers[number] = Server(types: Set(types), work: writer)
        defer { stopServing(number) }
        let (live, count) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for type in types { group.addTask { try await self.announce(type) { count.yield() } } }
            group.addTask {
                if !types.isEmpty {
                    var missing = types.count
                    for await _ in live {
                        missing -= 1
                        if missing == 0 { break }
                    }
                }
                if !Task.isCancelled { whenServing() }
                await withDiscardingTaskGroup { works in
                    for await work in queries { works.addTask { await self.perform(work, answer) } }
                    await self.stopServing(number)
                    works.cancelAll()
                }
            }
            defer { group.cancelAll() }
            // Ends when the task is cancelled, the bus is closed, or a subscription is not permitted.
            while let result = await group.nextResult() {
                if case .failure(let error as NATSError) = result, error.code == .denied {
                    throw BusError(error)
                }
                group.cancelAll()
            }
        }
        try Task.checkCancellation()
        try requireOpen()
    }

    /// Reports to each asker that this process serves a type.
    private func announce(_ type: MessageType, _ whenLive: @Sendable () -> Void) async throws {
        let serving = QueryPacket.serving(type, instance: instance)
        try await connection.withSubscription(to: journal.subject(.queryServers(type)), limit: 4096) { subscription in
            try await confirmSubscription()
            whenLive()
            while true {
                guard case .message(let message) = try await subscription.next() else { continue }
                if let reply = message.reply { try? connection.publish(reply, headers: serving.headers) }
                // Only the first reply arrives, so the asker receives the others at its address.
                if let asker = message.header("Segue-Instance"), QueryID.isInstance(asker) {
                    try? connection.publish(journal.subject(.queries(to: asker)), headers: serving.headers)
                }
            }
        }
    }

    private func stopServing(_ number: UInt64) {
        guard let server = servers.removeValue(forKey: number) else { return }
        server.work.finish()
    }

    private func handle(_ id: QueryID, message: PublishedMessage, reply: String) {
        guard let type = Topic(message.topic)?.type,
            let number = servers.filter({ $0.value.types.contains(type) }).keys.min()
        else { return send(.refused("this process does not serve \(message.topic)"), to: reply) }
        guard cancellations[id] == nil else { return }
        guard servers[number]?.open.count ?? 0 < Self.capacity else {
            let reason = "\(source) already has \(Self.capacity) unanswered queries; ask again later"
            return send(.refused(reason), to: reply)
        }
        let cancellation = Latch()
        servers[number]?.open.insert(id)
        cancellations[id] = cancellation
        servers[number]?.work.yield(Work(id: id, message: message, reply: reply, cancellation: cancellation))
    }

    private func finish(_ work: Work, _ reply: QueryReply?) {
        cancellations.removeValue(forKey: work.id)?.open()
        for number in servers.keys { servers[number]?.open.remove(work.id) }
        if let reply { send(reply, to: work.reply) }
    }

    /// Answers one query. Stops as soon as the asker no longer waits for the answer.
    private nonisolated func perform(
        _ work: Work, _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async {
        let reply = await withTaskGroup(of: QueryReply?.self) { group in
            group.addTask {
                do {
                    let message = try PublishedMessage(checking: try await answer(try work.message.envelope()))
                    return .answer(header: message.header, data: message.data)
                } catch {
                    return .failed("the process that serves \(work.message.topic) could not answer")
                }
            }
            group.addTask {
                await work.cancellation.waitUntilOpenOrCancelled()
                // The process stops serving: the work is cancelled, and the asker gets an error.
                return Task.isCancelled ? .failed("the process that served \(work.message.topic) has stopped") : nil
            }
            group.addTask { await self.watchAsker(of: work) }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        await finish(work, reply)
    }

    /// Returns when the asker has ended or no longer waits.
    private nonisolated func watchAsker(of work: Work) async -> QueryReply? {
        let address = journal.subject(.queries(to: work.id.asker))
        let ping = QueryPacket.ping(work.id)
        var missing = 0
        while missing < 2, (try? await Task.sleep(for: Self.pingInterval * 2)) != nil {
            do {
                let reply = try await journal.connection.request(
                    address, headers: ping.headers, timeout: Self.pingTimeout,
                    accepting: { QueryReply.isReply($0, from: work.id.asker) })
                missing = QueryReply(reply) == .unknown ? missing + 1 : 0
            } catch let error as NATSError where error.code == .disconnected {
                // Without a connection nothing is known about the asker.
                continue
            } catch {
                missing += 1
            }
        }
        return Task.isCancelled ? .failed("the process that served \(work.message.topic) has stopped") : nil
    }
}
