internal import BusProtocol
public import EventBus
internal import Foundation
internal import Logging
internal import ZeroMQ

extension ZeroMQEventBus {
    @discardableResult
    public func publish(_ batch: Batch) async throws -> Position {
        try batch.validate()
        let request: PublishRequest
        do {
            request = PublishRequest(
                producer: producer, sequence: 0, isLeased: batch.isLeased, isTransient: batch.isTransient,
                checkpoint: batch.checkpoint.map(CheckpointFrame.init),
                rejection: batch.rejection.map(RejectionFrame.init), settledLetters: batch.settledLetters,
                messages: try PackedMessages(batch.messages, isTransient: batch.isTransient))
            try request.validate()
        } catch {
            throw BusError(error)
        }
        let leases = try leased.change(by: batch)
        guard case .published(let epoch, let offset) = try await ask(.publish(request), leases: leases)
        else {
            throw BusError(.refused, "the broker answered a batch with something else")
        }
        return Position(epoch: epoch, offset: offset)
    }

    public func documents(matching filters: [MessageFilter]) async throws -> [Envelope] {
        let prefixes = filters.topicPrefixes.filter { $0.hasPrefix("\(MessageKind.document.rawValue).") }
        guard !prefixes.isEmpty else { return [] }
        var documents: [Envelope] = []
        var after: UInt64 = 0
        while true {
            let request = PageRequest(epoch: 0, after: after, prefixes: prefixes)
            guard case .page(let page) = try await ask(.documents(request)) else {
                throw BusError(.refused, "the broker answered a page with something else")
            }
            documents += try page.messages.map { try $0.envelope() }
            after = page.through
            if page.isComplete { break }
        }
        return documents.filter { document in
            // One that cannot be read must not keep anybody from the others.
            if let header = document.unreadableHeader { skipped.note(header.reason) }
            return document.unreadableHeader == nil && filters.contains { $0.matches(document) }
        }
    }

    public func document(_ type: MessageType, subject: String, key: String?) async throws -> Envelope? {
        let request: DocumentRequest
        do {
            request = try DocumentRequest(type: type, subject: subject, key: key ?? "")
        } catch {
            throw BusError(error)
        }
        guard case .page(let page) = try await ask(.document(request)) else {
            throw BusError(.refused, "the broker answered a look-up with something else")
        }
        guard let document = try page.messages.first?.envelope() else { return nil }
        if let header = document.unreadableHeader {
            skipped.note(header.reason)
            return nil
        }
        // The broker does not look into headers.
        guard document.subject == subject, document.attributes.key ?? "" == request.key else {
            let found = "'\(document.attributes.key ?? "")' of '\(document.subject)'"
            skipped.note("the header of \(type) '\(request.key)' of '\(subject)' says \(found)")
            return nil
        }
        return document
    }

    public func newest(matching filters: [MessageFilter]) async throws -> Position {
        let heads = try await heads(matching: filters)
        return Position(epoch: heads.epoch, offset: heads.offsets.values.max() ?? 0)
    }

    public func newestOfEachType(matching filters: [MessageFilter]) async throws -> [MessageType: Position] {
        let heads = try await heads(matching: filters)
        return heads.offsets.reduce(into: [:]) { newest, head in
            guard let type = Topic(head.key)?.type, head.value > newest[type]?.offset ?? 0 else { return }
            newest[type] = Position(epoch: heads.epoch, offset: head.value)
        }
    }

    private func heads(matching filters: [MessageFilter]) async throws -> Heads {
        let request = PageRequest(epoch: 0, after: 0, prefixes: filters.topicPrefixes)
        guard case .heads(let heads) = try await ask(.heads(request)) else {
            throw BusError(.refused, "the broker answered heads with something else")
        }
        return heads
    }

    public func consumers() async throws -> [DurableConsumer] {
        guard case .consumers(let list) = try await ask(.consumers) else {
            throw BusError(.refused, "the broker answered the list of consumers with something else")
        }
        return list.consumers.map { consumer in
            DurableConsumer(
                name: consumer.name, position: Position(epoch: list.epoch, offset: consumer.position),
                end: Position(epoch: list.epoch, offset: list.head), memberCount: Int(consumer.memberCount))
        }
    }

    public func forget(consumer: String) async throws {
        do { try Rules.checkConsumer(consumer) } catch { throw BusError(ProtocolError(error)) }
        guard case .done = try await ask(.forget(consumer)) else {
            throw BusError(.refused, "the broker answered the removal of a consumer with something else")
        }
    }

    public func deadLetters(of consumer: String?) async throws -> [DeadLetter] {
        var letters: [DeadLetter] = []
        while true {
            let request = LettersRequest(after: letters.last?.id ?? 0, consumer: consumer ?? "")
            guard case .letters(let page) = try await ask(.letters(request)) else {
                throw BusError(.refused, "the broker answered dead letters with something else")
            }
            letters += try page.letters.map(DeadLetter.init)
            if page.isComplete || page.letters.isEmpty { return letters }
        }
    }
}

extension CheckpointFrame {
    fileprivate init(_ checkpoint: Checkpoint) {
        self.init(
            consumer: checkpoint.claim.consumer, ownerEpoch: checkpoint.claim.ownerEpoch,
            epoch: checkpoint.position.epoch, offset: checkpoint.position.offset, settled: checkpoint.settled,
            partition: checkpoint.partition, previous: checkpoint.previous)
    }
}

extension RejectionFrame {
    fileprivate init(_ rejection: Rejection) {
        self.init(
            attempts: UInt16(clamping: rejection.attempts), code: rejection.code.prefix(utf8: Limits.nameLength),
            reason: rejection.reason.prefix(utf8: Limits.reasonSize))
    }
}

extension DeadLetter {
    fileprivate init(_ letter: Letters.Letter) throws {
        self.init(
            id: letter.id, consumer: letter.consumer,
            rejection: Rejection(
                code: letter.rejection.code, reason: letter.rejection.reason, attempts: Int(letter.rejection.attempts)),
            time: Date(timeIntervalSince1970: Double(letter.time) / 1000), message: try letter.message.envelope())
    }
}

extension ZeroMQEventBus {
    public func ask(_ query: Envelope, timeout: Duration) async throws -> Envelope {
        let timeout = min(max(timeout, .zero), .milliseconds(UInt32.max))
        let milliseconds = UInt32(timeout / .milliseconds(1))
        let request = AskRequest(timeout: milliseconds, query: try PublishedMessage(checking: query))
        guard case .answer(let header, let data) = try await ask(.ask(request), timeout: timeout) else {
            throw BusError(.refused, "the broker answered a query with something else")
        }
        return try Envelope(header: header, data: data)
    }

    public nonisolated func serve(
        _ types: [MessageType], whenServing: @escaping @Sendable () -> Void,
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async throws {
        let (queries, continuation) = AsyncStream.makeStream(of: ServedQuery.self)
        let server = try await addServer(types, continuation)
        whenServing()
        try await withThrowingDiscardingTaskGroup { group in
            // Before those are waited for who still work: what comes meanwhile goes to another process.
            defer { thread.perform { [weak self] in self?.assumeIsolated { $0.removeServer(server) } } }
            for await query in queries {
                group.addTask { await self.work(on: query, for: server, answer) }
            }
            try Task.checkCancellation()
            throw BusError(.closed, "the connection to \(address) was closed")
        }
    }

    private nonisolated func work(
        on query: ServedQuery, for server: Int, _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async {
        let content = await withTaskGroup(of: QueryAnswer.Content?.self) { group in
            group.addTask {
                do {
                    return try await .message(answer(query.message.envelope()))
                } catch {
                    return .failure(ProtocolError(.cancelled, "who served the query stopped"))
                }
            }
            group.addTask {
                for await _ in query.cancellation {}
                return nil
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? nil
        }
        await finish(query.id, for: server, content)
    }

    private func addServer(
        _ types: [MessageType], _ queries: AsyncStream<ServedQuery>.Continuation
    ) async throws -> Int {
        lastID += 1
        let id = lastID
        servers[id] = QueryServer(types: types, queries: queries)
        do {
            _ = try await ask(.serve(registration))
        } catch {
            servers[id] = nil
            // The broker may have heard of it all the same.
            register(always: true, reply: .ignored)
            throw error
        }
        return id
    }

    private func removeServer(_ id: Int) {
        guard let server = servers.removeValue(forKey: id) else { return }
        for query in server.open {
            refuse(query, .cancelled, "who served the query stopped")
        }
        server.end()
        register(always: true, reply: .ignored)
    }

    private var registration: ServeRequest {
        let types = Set(servers.values.flatMap(\.types)).sorted { $0.description < $1.description }
        return ServeRequest(producer: producer, types: types)
    }

    /// Tells the broker what is served: again and again, for a broker that was restarted has forgotten it.
    func register(always: Bool = false, reply: PendingRequest.ReplyHandler) {
        guard always || !servers.isEmpty else { return }
        enqueue(.serve(registration), reply: reply)
    }

    func take(_ notice: Notice) {
        switch notice {
        case .cancel(let id): openQueries.removeValue(forKey: id).map { servers[$0]?.finish(id) }
        case .query(let id, let message):
            let type = Topic(message.topic)?.type
            guard let (number, server) = servers.first(where: { $0.value.types.contains { $0 == type } }) else {
                return refuse(id, .unserved, "this process no longer serves \(message.topic)")
            }
            guard openQueries[id] == nil else { return }
            guard server.take(message, id: id) else {
                return refuse(id, .unserved, "\(source) has \(QueryServer.capacity) queries to answer already")
            }
            openQueries[id] = number
        }
    }

    private func finish(_ id: UInt64, for server: Int, _ content: QueryAnswer.Content?) {
        openQueries[id] = nil
        servers[server]?.finish(id)
        guard let content else { return }
        enqueue(.answer(QueryAnswer(query: id, content: content)), reply: .ignored)
    }

    private func refuse(_ id: UInt64, _ code: ProtocolError.Code, _ reason: String) {
        openQueries[id] = nil
        enqueue(.answer(QueryAnswer(query: id, content: .failure(ProtocolError(code, reason)))), reply: .ignored)
    }
}

extension QueryAnswer.Content {
    fileprivate static func message(_ envelope: Envelope) throws -> Self {
        let message = try PublishedMessage(checking: envelope)
        return .message(header: message.header, data: message.data)
    }
}

extension PublishedMessage {
    /// A frame that is too large would end the connection, each time it is sent.
    /// - Throws: ``BusError`` for what the broker would refuse.
    fileprivate init(checking envelope: Envelope) throws {
        try self.init(envelope)
        do { _ = try validated() } catch { throw BusError(error) }
    }
}

extension BusError {
    /// What the broker refused, in the terms of the bus.
    init(_ error: ProtocolError) {
        let code: Code =
            switch error.code {
            case .fenced: .fenced
            case .epoch: .epoch
            case .journal: .journal
            case .unserved: .unserved
            case .deadline: .deadline
            case .cancelled: .cancelled
            case .letter: .letter
            case .unrecorded: .unrecorded
            default: .refused
            }
        self.init(code, error.message)
    }
}
