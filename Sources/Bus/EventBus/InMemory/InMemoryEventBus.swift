package import Foundation
internal import Support

extension EventBus {
    /// A bus within one process. Tests, and apps that are one process, use it instead of a broker.
    ///
    /// Each bus stands for one process. The end of ``run()`` has the same effect as the end of that process: later
    /// calls throw `closed`, and the leased documents are withdrawn.
    /// - Parameters:
    ///   - source: The source of the published messages, `name/instance`.
    ///   - hub: The journal, which buses with the same hub share; by default a new one.
    public static func inMemory(source: String, hub: InMemoryHub = InMemoryHub()) -> EventBus {
        EventBus(InMemoryEventBus(source: source, hub: hub))
    }
}

/// The engine of a bus within one process: a handle of an ``InMemoryHub``.
package struct InMemoryEventBus: EventBusEngine, Identifiable {
    /// The identity of this handle. It corresponds to one run of a process.
    package let id = UUID()
    package let source: String
    package let hub: InMemoryHub

    package init(source: String, hub: InMemoryHub = InMemoryHub()) {
        self.source = source
        self.hub = hub
    }

    @discardableResult
    package func publish(_ batch: Batch) async throws -> Position {
        try await hub.publish(batch, from: id)
    }

    package func publishTransient(_ messages: [Envelope]) async throws {
        try await hub.publishTransient(messages, from: id)
    }

    package func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await hub.requireOpen(id)
        // `onNotice` is never called: in memory, no recorded message is dropped before a subscription has read it.
        return try await read(try await hub.subscribe(to: filters, from: start, until: end), body)
    }

    package func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await hub.requireOpen(id)
        return try await read(try await hub.subscribe(to: filters, under: claim, progress: progress), body)
    }

    package func documents(
        matching filters: [MessageFilter], after offset: UInt64, limit: Int
    ) async throws -> [Envelope] {
        try await hub.requireOpen(id)
        let documents = await hub.documents(matching: filters)
        return Array(documents.drop { $0.position?.offset ?? 0 <= offset }.prefix(limit))
    }

    package func document(_ type: MessageType, subject: String, key: String?) async throws -> Envelope? {
        do { try Rules.checkDocument(type, subject: subject, key: key ?? "") } catch { throw BusError(error) }
        return try await hub.document(DocumentName(type, subject: subject, key: key), for: id)
    }

    package func end() async throws -> Position {
        try await hub.requireOpen(id)
        return await hub.end
    }

    package func newestOfEachType(matching filters: [MessageFilter]) async throws -> [MessageType: Position] {
        try await hub.requireOpen(id)
        return await hub.newestOfEachType(matching: filters)
    }

    package func lag(after position: Position, matching filters: [MessageFilter]) async throws -> UInt64 {
        try await hub.requireOpen(id)
        return await hub.lag(after: position, matching: filters)
    }

    package func position(_ position: Position, offsetBy distance: Int) async throws -> Position {
        try await hub.requireOpen(id)
        return await hub.position(position, offsetBy: distance)
    }

    package func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        try await hub.claim(consumer, as: member, for: id)
    }

    package func leave(consumer: String, as member: ConsumerMember) async {
        await hub.leave(Membership(consumer: consumer, member: member.id), for: id)
    }

    package func consumers() async throws -> [DurableConsumer] {
        try await hub.consumers(for: id)
    }

    package func forget(consumer: String) async throws {
        try await hub.forget(consumer, for: id)
    }

    package func deadLetters(
        of consumer: String?, after deadLetter: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter] {
        Array(try await hub.deadLetters(of: consumer, for: id).lazy.filter { $0.id > deadLetter }.prefix(max(0, limit)))
    }

    package func deadLetterSummaries(
        of consumer: String?, after deadLetter: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter.Summary] {
        try await deadLetters(of: consumer, after: deadLetter, limit: limit).map(\.summary)
    }

    package func deadLetterCount(of consumer: String?) async throws -> Int {
        try await hub.deadLetters(of: consumer, for: id).count
    }

    package func run() async throws {
        try await hub.requireOpen(id)
        await Latch().waitUntilOpenOrCancelled()
        await hub.close(id)
    }

    private func read<Result: Sendable>(
        _ subscription: InMemorySubscription.ID, _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        let messages = MessageSequence { [hub, id] in try await hub.next(of: subscription, for: id).map { Delivery($0) }
        }
        do {
            let result = try await body(messages)
            await hub.unsubscribe(subscription)
            return result
        } catch {
            await hub.unsubscribe(subscription)
            throw error
        }
    }

    package func ask(_ query: Envelope, timeout: Duration) async throws -> Envelope {
        let (answers, continuation) = AsyncStream.makeStream(of: Result<Envelope, BusError>.self)
        let id = try await hub.ask(query, for: id, answer: continuation)
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask { [hub] in
                guard (try? await Task.sleep(for: timeout)) != nil else { return }
                await hub.settle(id, .failure(BusError(.deadline, "no answer to \(query.type) came within \(timeout)")))
            }
            defer { group.cancelAll() }
            for await result in answers { return result as Result? }
            return nil
        }
        guard let result else {
            // There is no result only if the asker was cancelled. Settling the query lets the server stop its work.
            await hub.settle(id, .failure(BusError(.cancelled, "the asker of \(query.type) was cancelled")))
            throw CancellationError()
        }
        return try result.get()
    }

    package func serve(
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
            // Stops serving before the running answers have ended, so that no asker waits for them.
            await hub.stopServing(server, .cancelled)
        }
        try Task.checkCancellation()
        try await hub.requireOpen(id)
    }

    /// Answers one query. Stops as soon as the asker no longer waits for the answer.
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
                    let reason = "the process that serves \(query.message.type) could not answer: \(error)"
                    await hub.settle(query.id, .failure(BusError(.cancelled, reason)))
                }
            }
            group.addTask { await query.isResolved.waitUntilOpenOrCancelled() }
            await group.next()
            group.cancelAll()
        }
    }
}
