internal import BusProtocol
public import EventBus
internal import Foundation
internal import Logging
internal import ZeroMQ

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
