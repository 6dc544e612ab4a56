extension InMemoryEventBus {
    public func ask(_ query: Envelope, timeout: Duration) async throws -> Envelope {
        let (answers, continuation) = AsyncStream.makeStream(of: Result<Envelope, BusError>.self)
        let id = try await hub.ask(query, for: id, answer: continuation)
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask { [hub] in
                guard (try? await Task.sleep(for: timeout)) != nil else { return }
                await hub.settle(id, .failure(BusError(.deadline, "\(query.type) had no answer within \(timeout)")))
            }
            defer { group.cancelAll() }
            for await result in answers { return result as Result? }
            return nil
        }
        guard let result else {
            // Only a cancelled asker gets here without one: whoever works on the answer can stop.
            await hub.settle(id, .failure(BusError(.cancelled, "\(query.type) is not asked any longer")))
            throw CancellationError()
        }
        return try result.get()
    }

    public func serve(
        _ types: [MessageType], whenServing: @escaping @Sendable () -> Void,
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async throws {
        let (queries, continuation) = AsyncStream.makeStream(of: InMemoryQuery.self)
        let server = try await hub.serve(types, for: id, queries: continuation)
        whenServing()
        await withDiscardingTaskGroup { group in
            for await query in queries {
                group.addTask { await settle(query, with: answer) }
            }
            // Before those that are at work have ended, so that no asker waits for them.
            await hub.stopServing(server, .cancelled)
        }
        try Task.checkCancellation()
        try await hub.requireOpen(id)
    }

    /// Answers one query, or stops as soon as nobody waits for the answer.
    private func settle(
        _ query: InMemoryQuery, with answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    let reply = try await answer(query.message)
                    try reply.validate()
                    await hub.settle(query.id, .success(reply))
                } catch {
                    let reason = "who served \(query.message.type) could not answer: \(error)"
                    await hub.settle(query.id, .failure(BusError(.cancelled, reason)))
                }
            }
            group.addTask { for await _ in query.isWanted {} }
            await group.next()
            group.cancelAll()
        }
    }
}
