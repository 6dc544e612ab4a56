public import Foundation

/// A bus within one process: one process's end of an ``InMemoryHub``.
///
/// It behaves like every other transport, so that what works in a test over it works between processes too.
/// Ending ``run()`` is the death of the process: from then on every call throws `closed`, and what it leased is gone.
public struct InMemoryEventBus: EventBus, Identifiable {
    /// One incarnation of a process.
    public let id = UUID()
    public let source: String
    /// What it shares with the other processes.
    public let hub: InMemoryHub

    /// - Parameters:
    ///   - source: the process, `name/instance`.
    ///   - hub: the hub it shares with other processes; one of its own unless given.
    public init(source: String, hub: InMemoryHub = InMemoryHub()) {
        self.source = source
        self.hub = hub
    }

    @discardableResult
    public func publish(_ batch: Batch) async throws -> Position {
        try await hub.publish(batch, from: id)
    }

    public func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await hub.requireOpen(id)
        // What is in memory is never dropped, and no retention removes it.
        return try await read(try await hub.subscribe(to: filters, from: start, until: end), body)
    }

    public func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await hub.requireOpen(id)
        return try await read(try await hub.subscribe(to: filters, under: claim), body)
    }

    public func documents(matching filters: [MessageFilter]) async throws -> [Envelope] {
        try await hub.requireOpen(id)
        return await hub.documents(matching: filters)
    }

    public func document(_ type: MessageType, subject: String, key: String?) async throws -> Envelope? {
        do { try Rules.checkDocument(type, subject: subject, key: key ?? "") } catch { throw BusError(error) }
        return try await hub.document(DocumentKey(type: type, subject: subject, key: key), for: id)
    }

    public func newest(matching filters: [MessageFilter]) async throws -> Position {
        try await hub.requireOpen(id)
        return await hub.newest(matching: filters)
    }

    public func newestOfEachType(matching filters: [MessageFilter]) async throws -> [MessageType: Position] {
        try await hub.requireOpen(id)
        return await hub.newestOfEachType(matching: filters)
    }

    public func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        try await hub.claim(consumer, as: member, for: id)
    }

    public func leave(consumer: String, as member: ConsumerMember) async {
        await hub.leave(Membership(consumer: consumer, member: member.id), for: id)
    }

    public func consumers() async throws -> [DurableConsumer] {
        try await hub.consumers(for: id)
    }

    public func forget(consumer: String) async throws {
        try await hub.forget(consumer, for: id)
    }

    public func deadLetters(of consumer: String?) async throws -> [DeadLetter] {
        try await hub.deadLetters(of: consumer, for: id)
    }

    public func run() async throws {
        let (forever, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in forever {}
        continuation.finish()
        await hub.close(id)
    }

    private func read<Result: Sendable>(
        _ subscription: InMemorySubscription.ID, _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        let messages = MessageSequence { [hub, id] in try await hub.next(of: subscription, for: id) }
        do {
            let result = try await body(messages)
            await hub.unsubscribe(subscription)
            return result
        } catch {
            await hub.unsubscribe(subscription)
            throw error
        }
    }

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
