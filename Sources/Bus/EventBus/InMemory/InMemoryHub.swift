internal import Foundation
internal import Support

/// A broker within one process: it holds the journal, the retained documents, the durable consumers with their dead
/// letters, and the servers of queries.
///
/// Several buses share one hub, like processes that share a broker: ``EventBus/inMemory(source:hub:)``. A program that
/// continues after a restart keeps ``saved()`` in a file:
///
///     for await _ in await hub.changes() { try await hub.saved().data().write(to: file, options: .atomic) }
public actor InMemoryHub {
    private var journal: InMemoryJournal
    private let journalLimit: Int
    private var retained: [DocumentName: Envelope] = [:]
    private var leases = DocumentLeases<InMemoryEventBus.ID>()
    private var closed: Set<InMemoryEventBus.ID> = []
    private var subscriptions: [InMemorySubscription.ID: InMemorySubscription] = [:]
    /// The durable consumers by name.
    private var groups: [String: ConsumerGroup] = [:]
    /// The offsets up to which the readers of each consumer have passed, by the number of the partition.
    private var passed: [String: [UInt64]] = [:]
    /// The highest owner generation of any consumer that was removed.
    private var forgottenGeneration: UInt64 = 0
    private var memberships: [InMemoryEventBus.ID: Set<Membership>] = [:]
    /// The dead letters, oldest first.
    private var deadLetters: [DeadLetter] = []
    private var lastDeadLetter: Int64 = 0
    /// The servers of queries. The first one that serves the type gets the next query.
    private var servers: [InMemoryServer] = []
    private var queries: [InMemoryQuery.ID: InMemoryQuery] = [:]

    /// The streams of ``changes()`` that are in use.
    private var observers: [AsyncStream<Void>.Continuation] = []

    /// - Parameters:
    ///   - journalLimit: The number of messages that the journal holds for later readers. From time to time, older ones
    ///     are removed, except those that a running durable consumer has not handled or a subscriber has not read. A
    ///     reader from an older position begins with the oldest message, without a notice.
    ///   - maximumGap: The maximum number of offsets that the hub leaves out before each batch; how many is random. A
    ///     test that passes with gaps makes no use of offsets that no bus promises.
    public init(journalLimit: Int = .max, maximumGap: UInt64 = 0) {
        self.journalLimit = max(0, journalLimit)
        journal = InMemoryJournal(maximumGap: maximumGap)
    }

    /// Restores what an earlier hub had saved. Positions continue to grow from the saved end, in the same epoch. The
    /// documents that were leased are withdrawn, because their publishers have ended. Each durable consumer continues
    /// after the last message that it had handled.
    public init(_ saved: SavedHub, journalLimit: Int = .max) {
        let saved = saved.withoutLeases
        self.journalLimit = max(0, journalLimit)
        journal = saved.journal
        retained = saved.documents
        groups = saved.groups
        forgottenGeneration = saved.forgottenGeneration
        deadLetters = saved.deadLetters
        lastDeadLetter = saved.lastDeadLetter
    }

    /// The retained documents, the progress of the durable consumers, the messages that a durable consumer has not
    /// handled, and the dead letters.
    public func saved() -> SavedHub {
        let consumers = groups.map {
            ($0, ConsumerGroup(ownerGeneration: $1.ownerGeneration, handled: handled(by: $0, $1)))
        }
        let oldest = consumers.map(\.1.position).min() ?? journal.end.offset
        return SavedHub(
            journal: InMemoryJournal(
                epoch: journal.epoch, base: max(oldest, journal.base), messages: journal.messages(after: oldest),
                newest: journal.newest),
            documents: retained, leased: leases.documents,
            groups: Dictionary(uniqueKeysWithValues: consumers), forgottenGeneration: forgottenGeneration,
            deadLetters: deadLetters,
            lastDeadLetter: lastDeadLetter)
    }

    /// A stream with an element when a batch was recorded, documents were withdrawn or a consumer was removed since the
    /// last element was taken. The first element comes with the next change.
    public func changes() -> AsyncStream<Void> {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        observers.append(continuation)
        return changes
    }

    /// The end of the journal: the position of the last message.
    public var end: Position { journal.end }

    /// The number of transient messages that were lost because the maximum number was already waiting for a subscriber.
    public private(set) var lostTransientMessages = 0

    // All checks come before the first change, and there is no suspension point: a batch is published whole or not at
    // all.
    func publish(_ batch: Batch, from handle: InMemoryEventBus.ID) throws -> Position {
        try requireOpen(handle)
        try batch.validate()
        try batch.validateMessages()
        if let checkpoint = batch.checkpoint, try isHandled(checkpoint) { return end }
        let rejected = try rejectedMessage(of: batch)
        try requireDeadLetters(batch.resolvedDeadLetters)
        batch.checkpoint.map(record)
        if let rejection = batch.rejection, let checkpoint = batch.checkpoint, let rejected {
            keep(rejected, of: checkpoint.claim.consumer, because: rejection)
        }
        settle(batch.resolvedDeadLetters)
        append(batch.messages, leasedBy: batch.isLeased ? handle : nil)
        removeOldMessages()
        notifyObservers()
        if !batch.messages.isEmpty { wakeSubscribers() }
        return end
    }

    func publishTransient(_ messages: [Envelope], from handle: InMemoryEventBus.ID) throws {
        try requireOpen(handle)
        let batch = Batch(messages)
        try batch.validate()
        try batch.validateMessages(areTransient: true)
        deliver(messages)
        wakeSubscribers()
    }

    func documents(matching filters: [MessageFilter]) -> [Envelope] {
        retained.values
            .filter { document in filters.contains { $0.matches(document) } }
            .sorted { ($0.position?.offset ?? 0) < ($1.position?.offset ?? 0) }
    }

    func document(_ name: DocumentName, for handle: InMemoryEventBus.ID) throws -> Envelope? {
        try requireOpen(handle)
        return retained[name]
    }

    /// The subjects of the filters are ignored.
    func newestOfEachType(matching filters: [MessageFilter]) -> [MessageType: Position] {
        journal.newest.filter { type, _ in filters.contains { $0.matches(type, subject: $0.subject ?? "") } }
            .mapValues { Position(epoch: journal.epoch, offset: $0) }
    }

    func lag(after position: Position, matching filters: [MessageFilter]) -> UInt64 {
        journal.lag(after: position, matching: filters)
    }

    func position(_ position: Position, offsetBy distance: Int) -> Position {
        journal.position(position, offsetBy: distance)
    }

    /// Closes a handle as if its process had been killed: its readers stop, its leased documents are withdrawn, the
    /// partitions of its shared members go to other members, and the queries that it serves or has asked fail.
    func close(_ handle: InMemoryEventBus.ID) {
        closed.insert(handle)
        append(leases.documents(of: handle).compactMap { retained[$0]?.withdrawal }, leasedBy: nil)
        leaveConsumers(handle)
        endQueries(of: handle)
        notifyObservers()
        wakeSubscribers()
    }

    /// The number of recorded messages of some types that a durable consumer has not handled. A lag also counts handled
    /// messages of other partitions.
    package func unhandledCount(of types: Set<MessageType>, by consumer: String) -> Int {
        guard let group = groups[consumer] else { return 0 }
        return journal.messages(after: group.position).count { message in
            types.contains(message.type) && message.position?.offset ?? 0 > group.handled(message.partition)
        }
    }

    func requireOpen(_ handle: InMemoryEventBus.ID) throws {
        if closed.contains(handle) { throw BusError.runEnded }
    }

    func requireThisJournal(_ position: Position) throws {
        guard position.epoch == journal.epoch else {
            throw BusError(.epoch, "position \(position) belongs to another journal; this one ends at \(end)")
        }
    }

    private func deliver(_ messages: [Envelope]) {
        for id in subscriptions.keys {
            for message in messages {
                let isKept = subscriptions[id]?.offer(message, after: journal.end.offset) ?? true
                if !isKept { lostTransientMessages += 1 }
            }
        }
    }

    private func append(_ messages: [Envelope], leasedBy handle: InMemoryEventBus.ID?) {
        for message in journal.append(messages) { keep(message, leasedBy: handle) }
    }

    /// Keeps a document, or removes the document that is withdrawn. Has no effect on other messages.
    private func keep(_ message: Envelope, leasedBy handle: InMemoryEventBus.ID?) {
        guard message.type.kind == .document else { return }
        let name = DocumentName(message)
        retained[name] = message.isTombstone ? nil : message
        leases.record(name, leasedBy: message.isTombstone ? nil : handle)
    }

    /// Removes old messages if the journal holds twice as many as its limit, so that a message is moved at most once on
    /// average. Keeps what consumers have not handled, but for a consumer that no process runs only as many messages as
    /// the limit: it may never run again.
    private func removeOldMessages() {
        guard journal.count / 2 > journalLimit else { return }
        let read = subscriptions.values.map(\.passed).min() ?? .max
        let running = Set(memberships.values.flatMap { $0.map(\.consumer) })
        let unhandled = groups.filter { running.contains($0.key) }.flatMap { handled(by: $0, $1) }.min() ?? .max
        journal.remove(through: min(read, unhandled, journal.offset(beforeNewest: journalLimit)))
    }

    private func notifyObservers() {
        observers.removeAll { observer in
            if case .terminated = observer.yield() { true } else { false }
        }
    }

    func subscribe(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?
    ) throws -> InMemorySubscription.ID {
        try end.map(requireThisJournal)
        var passed = journal.end.offset
        var retained: ArraySlice<Envelope> = []
        switch start {
        case .now: break
        case .beginning: passed = journal.base
        case .retained:
            retained = documents(matching: filters).prefix { ($0.position?.offset ?? 0) <= end?.offset ?? .max }
        case .after(let position):
            try requireThisJournal(position)
            guard position.offset <= journal.end.offset else {
                throw BusError(.epoch, "position \(position) is beyond the end of the journal (\(self.end))")
            }
            passed = position.offset
        case .since(let time): passed = journal.offset(before: time)
        }
        let subscription = InMemorySubscription(
            filters: filters, after: passed, end: end?.offset, retained: retained)
        subscriptions[subscription.id] = subscription
        return subscription.id
    }

    func subscribe(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress?
    ) throws -> InMemorySubscription.ID {
        try requireThisJournal(claim.position)
        let subscription = InMemorySubscription(
            filters: filters, after: claim.position.offset, claim: claim, progress: progress)
        // If the claim is not current, there is no entry, and the first read ends the subscription.
        if isCurrent(claim) { subscriptions[subscription.id] = subscription }
        return subscription.id
    }

    func unsubscribe(_ id: InMemorySubscription.ID) {
        subscriptions[id]?.wakeUp()
        subscriptions[id] = nil
    }

    /// Ends the subscriptions under claims that no longer match the partitions of their members.
    func endSubscriptions(of consumer: String) {
        for case (let id, let claim?) in subscriptions.mapValues(\.claim)
        where claim.consumer == consumer && !isCurrent(claim) {
            unsubscribe(id)
        }
    }

    /// Waits for the next message of a subscription. Nil if the subscription has ended.
    func next(of id: InMemorySubscription.ID, for handle: InMemoryEventBus.ID) async throws -> Envelope? {
        while true {
            try Task.checkCancellation()
            try requireOpen(handle)
            guard subscriptions[id] != nil else { return nil }
            if let message = subscriptions[id]?.dequeue(from: journal) { return message }
            if subscriptions[id]?.isAtEnd == true { return nil }
            recordWaiting(id)
            // The latch exists before the first suspension point, so no message that is published later is missed.
            guard let news = subscriptions[id]?.news() else { return nil }
            await news.waitUntilOpenOrCancelled()
        }
    }

    /// Records that the consumer of a reader that waits for a message has handled the messages before. Otherwise a
    /// consumer that seldom gets a message would keep all messages of the others in ``saved()``.
    private func recordWaiting(_ id: InMemorySubscription.ID) {
        guard let subscription = subscriptions[id], let claim = subscription.claim, isCurrent(claim) else { return }
        var offsets = passed[claim.consumer] ?? Array(repeating: 0, count: Partition.count)
        for partition in claim.offsets.keys { offsets[Int(partition.number)] = subscription.settled }
        passed[claim.consumer] = offsets
    }

    /// The offset up to which each partition of a consumer is handled, or has no message for it.
    private func handled(by consumer: String, _ group: ConsumerGroup) -> [UInt64] {
        let passed = passed[consumer] ?? Array(repeating: 0, count: Partition.count)
        return zip(Partition.all, passed).map { max(group.handled($0), $1) }
    }

    func wakeSubscribers() {
        for id in subscriptions.keys { subscriptions[id]?.wakeUp() }
    }

    func claim(
        _ consumer: String, as member: ConsumerMember, for handle: InMemoryEventBus.ID
    ) throws -> ConsumerClaim {
        try requireOpen(handle)
        do { try Rules.checkConsumer(consumer) } catch { throw BusError(error) }
        let known = groups[consumer]
        let ownership: Ownership
        do {
            (groups[consumer], ownership) = try (known ?? ConsumerGroup(after: forgottenGeneration))
                .claimed(by: member, of: consumer, otherConsumers: known == nil ? groups.count : nil)
        } catch {
            throw BusError(error)
        }
        memberships[handle, default: []].insert(Membership(consumer: consumer, member: member.id))
        endSubscriptions(of: consumer)
        return ConsumerClaim(
            consumer: consumer, member: member, ownerGeneration: ownership.ownerGeneration, epoch: journal.epoch,
            offsets: ownership.offsets)
    }

    func consumers(for handle: InMemoryEventBus.ID) throws -> [DurableConsumer] {
        try requireOpen(handle)
        return groups.sorted { $0.key < $1.key }.map { name, group in
            DurableConsumer(
                name: name, position: Position(epoch: journal.epoch, offset: group.position), end: end,
                memberCount: group.members.count)
        }
    }

    func forget(_ consumer: String, for handle: InMemoryEventBus.ID) throws {
        try requireOpen(handle)
        do { try Rules.checkConsumer(consumer) } catch { throw BusError(error) }
        if let group = groups[consumer] {
            let owner = group.exclusiveOwner.map { Membership(consumer: consumer, member: $0) }
            let isOwned = owner.map { owner in memberships.values.contains { $0.contains(owner) } } ?? false
            do { try group.requireUnused(consumer, owner: isOwned ? .alive : .ended) } catch { throw BusError(error) }
        }
        forgottenGeneration = max(forgottenGeneration, groups.removeValue(forKey: consumer)?.ownerGeneration ?? 0)
        passed[consumer] = nil
        endSubscriptions(of: consumer)
        notifyObservers()
    }

    /// True if a claim still matches the partitions of its member.
    func isCurrent(_ claim: ConsumerClaim) -> Bool {
        groups[claim.consumer]?.isCurrent(claim, in: journal.epoch) ?? false
    }

    /// See ``CheckpointAdmission/isHandled(end:in:)``.
    func isHandled(_ checkpoint: Checkpoint) throws(BusError) -> Bool {
        do {
            return try CheckpointAdmission(checkpoint).isHandled(end: end, in: groups[checkpoint.claim.consumer])
        } catch {
            throw BusError(error)
        }
    }

    /// Records progress. The caller has checked it.
    func record(_ checkpoint: Checkpoint) {
        _ = groups[checkpoint.claim.consumer]?.record(CheckpointAdmission(checkpoint))
    }

    func leave(_ membership: Membership, for handle: InMemoryEventBus.ID) {
        memberships[handle]?.remove(membership)
        groups[membership.consumer]?.leave(membership.member)
        endSubscriptions(of: membership.consumer)
    }

    func leaveConsumers(_ handle: InMemoryEventBus.ID) {
        for membership in memberships[handle] ?? [] { leave(membership, for: handle) }
        memberships[handle] = nil
    }

    /// The dead letters of a consumer, or of all consumers, oldest first.
    func deadLetters(of consumer: String?, for handle: InMemoryEventBus.ID) throws -> [DeadLetter] {
        try requireOpen(handle)
        return consumer == nil ? deadLetters : deadLetters.filter { $0.consumer == consumer }
    }

    /// The message that a batch gives up; nil if it does not give up a message.
    func rejectedMessage(of batch: Batch) throws -> Envelope? {
        guard batch.rejection != nil, let position = batch.checkpoint?.position else { return nil }
        guard let message = journal[position.offset] else {
            throw BusError(.deadLetter, "there is no message at position \(position) that could be given up")
        }
        return message
    }

    func requireDeadLetters(_ ids: [DeadLetter.ID]) throws {
        if let missing = Set(ids).subtracting(deadLetters.map(\.id)).min() {
            throw BusError(.deadLetter, "there is no dead letter \(missing)")
        }
    }

    func keep(_ message: Envelope, of consumer: String, because rejection: Rejection) {
        lastDeadLetter += 1
        deadLetters.append(
            DeadLetter(id: lastDeadLetter, consumer: consumer, rejection: rejection, time: Date(), message: message))
    }

    func settle(_ ids: [DeadLetter.ID]) {
        let settled = Set(ids)
        deadLetters.removeAll { settled.contains($0.id) }
    }

    /// Gives a query to the next process that serves its type.
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
        let query = InMemoryQuery(
            message: message, asker: handle, server: server.id, answer: answer)
        queries[query.id] = query
        server.queries.yield(query)
        return query.id
    }

    /// Ends a query with a result. Only the first call for a query has an effect.
    func settle(_ id: InMemoryQuery.ID, _ result: Result<Envelope, BusError>) {
        guard let query = queries.removeValue(forKey: id) else { return }
        query.answer.yield(result)
        query.answer.finish()
        query.isResolved.open()
    }

    func serve(
        _ types: [MessageType], for handle: InMemoryEventBus.ID, queries: AsyncStream<InMemoryQuery>.Continuation
    ) throws -> InMemoryServer.ID {
        try requireOpen(handle)
        if let type = types.first(where: { $0.kind != .query }) {
            throw BusError(.refused, "\(type) cannot be served because it is not a query")
        }
        let server = InMemoryServer(handle: handle, types: Set(types), queries: queries)
        servers.append(server)
        return server.id
    }

    /// Removes a server. The queries that it has not answered fail with `code`.
    func stopServing(_ id: InMemoryServer.ID, _ code: BusError.Code) {
        guard let index = servers.firstIndex(where: { $0.id == id }) else { return }
        servers.remove(at: index).queries.finish()
        for query in queries.values.filter({ $0.server == id }) {
            settle(query.id, .failure(BusError(code, "the process that served \(query.message.type) has stopped")))
        }
    }

    /// Ends the queries that a process serves and the queries that it has asked.
    func endQueries(of handle: InMemoryEventBus.ID) {
        for server in servers.filter({ $0.handle == handle }) { stopServing(server.id, .unserved) }
        for query in queries.values.filter({ $0.asker == handle }) {
            settle(query.id, .failure(.runEnded))
        }
    }
}

/// The membership of an instance in a durable consumer.
struct Membership: Hashable, Sendable {
    let consumer: String
    let member: UUID
}

/// A call of ``InMemoryEventBus/serve(_:whenServing:_:)``, which answers queries of some types.
struct InMemoryServer: Identifiable {
    let id = UUID()
    let handle: InMemoryEventBus.ID
    let types: Set<MessageType>
    /// The queries to answer.
    let queries: AsyncStream<InMemoryQuery>.Continuation
}

/// A query that has no answer yet.
struct InMemoryQuery: Identifiable, Sendable {
    let id = UUID()
    let message: Envelope
    let asker: InMemoryEventBus.ID
    let server: InMemoryServer.ID
    /// Receives the answer or an error.
    let answer: AsyncStream<Result<Envelope, BusError>>.Continuation
    /// Opened when the asker no longer waits for the answer.
    let isResolved = Latch()
}
