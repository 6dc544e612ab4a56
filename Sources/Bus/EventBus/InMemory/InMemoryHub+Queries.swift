extension InMemoryHub {
    /// Hands a query to whose turn it is.
    func ask(
        _ message: Envelope, for handle: InMemoryEventBus.ID,
        answer: AsyncStream<Result<Envelope, BusError>>.Continuation
    ) throws -> InMemoryQuery.ID {
        try requireOpen(handle)
        guard message.type.kind == .query else { throw BusError(.refused, "\(message.type) is not a query") }
        try message.validate()
        guard let index = servers.firstIndex(where: { $0.types.contains(message.type) }) else {
            throw BusError(.unserved, "no process serves \(message.type)")
        }
        let server = servers.remove(at: index)
        servers.append(server)
        let (isWanted, settled) = AsyncStream.makeStream(of: Never.self)
        let query = InMemoryQuery(
            message: message, asker: handle, server: server.id, answer: answer, isWanted: isWanted, settled: settled)
        queries[query.id] = query
        server.queries.yield(query)
        return query.id
    }

    /// Ends a query. Whoever is first decides how.
    func settle(_ id: InMemoryQuery.ID, _ result: Result<Envelope, BusError>) {
        guard let query = queries.removeValue(forKey: id) else { return }
        query.answer.yield(result)
        query.answer.finish()
        query.settled.finish()
    }

    func serve(
        _ types: [MessageType], for handle: InMemoryEventBus.ID, queries: AsyncStream<InMemoryQuery>.Continuation
    ) throws -> InMemoryServer.ID {
        try requireOpen(handle)
        if let type = types.first(where: { $0.kind != .query }) {
            throw BusError(.refused, "\(type) cannot be served: it is not a query")
        }
        let server = InMemoryServer(handle: handle, types: Set(types), queries: queries)
        servers.append(server)
        return server.id
    }

    /// Takes a server out, and gives what it has not answered the reason.
    func stopServing(_ id: InMemoryServer.ID, _ code: BusError.Code) {
        guard let index = servers.firstIndex(where: { $0.id == id }) else { return }
        servers.remove(at: index).queries.finish()
        for query in queries.values.filter({ $0.server == id }) {
            settle(query.id, .failure(BusError(code, "who served \(query.message.type) has stopped")))
        }
    }

    /// Ends what a process was asked, and what it asked.
    func endQueries(of handle: InMemoryEventBus.ID) {
        for server in servers.filter({ $0.handle == handle }) { stopServing(server.id, .unserved) }
        for query in queries.values.filter({ $0.asker == handle }) {
            settle(query.id, .failure(.runEnded))
        }
    }
}
