package import BusAccess
internal import BusFormat
package import BusProtocol
internal import EventBus
internal import Foundation
package import Logging

/// The broker without its sockets. It handles requests and returns replies and feed messages.
///
/// One call of ``handle(_:now:)`` records its batches, except transient ones, in one transaction.
package struct BrokerEngine {
    package let journal: Journal
    private(set) var desk: QueryDesk
    private let configuration: BrokerConfiguration
    private let clock: BrokerClock
    private let logger: Logger
    private var presence: ProducerPresence
    private var owners = ExclusiveOwners()
    private var transients: TransientBatches
    private var notices: BrokerNotices
    private var lagWarnings: LagWarnings
    /// The users whose requests are answered. Nil on a bus without keys: then all are.
    private(set) var acceptedUsers: [String: Publisher]?
    /// The broker as the publisher of its own messages. Nil on a bus without keys.
    private var ownPublisher: Publisher?
    /// The refused requests since the last call of ``drainRefusals()``.
    private var refusals = RefusedRequests()
    /// True if retention has more to remove.
    private var isPruning = false
    /// The time at which silent producers were last forgotten, or the broker started.
    private var lastForgotten: ContinuousClock.Instant

    /// The time between two removals of silent producers, unless there are too many producers.
    private static let producerInterval: Duration = .seconds(3600)
    /// The maximum number of offsets in one step of ``prune(now:into:)``.
    private static let stepCount = 2000

    /// Begins a new epoch if the journal has lost messages since it was last used.
    /// - Parameter now: Leases and memberships in the journal count from this time.
    package init(
        journal: Journal, configuration: BrokerConfiguration, logger: Logger, clock: BrokerClock,
        now: ContinuousClock.Instant
    ) throws {
        self.journal = journal
        self.configuration = configuration
        self.logger = logger
        // If the journal is damaged and the time cannot be read, the first tick throws.
        self.clock = clock.notBefore((try? journal.lastTime()) ?? 0, at: now)
        let limits = configuration.userLimits
        (desk, transients) = (QueryDesk(userCapacity: limits.openQueries), TransientBatches(limits))
        notices = BrokerNotices(logger: logger)
        lagWarnings = LagWarnings(of: journal.path, unit: "offset")
        lastForgotten = now
        let members = journal.consumers.rows.values.flatMap { $0.producers.values }
        presence = ProducerPresence(
            try journal.leaseOwners() + members, userCapacity: limits.presentProducers, now: now)
        if let loss = journal.lossAtStart { try beginEpoch(after: loss, now: now) }
    }

    /// - Parameter isShared: True if requests of other users wait. Pages end after fewer rows then.
    package mutating func handle(
        _ incoming: [Incoming], isShared: Bool = false, now: ContinuousClock.Instant
    ) -> Outgoing {
        var outgoing = Outgoing()
        let head = journal.head
        var (batches, transients): ([IncomingBatch], [IncomingBatch]) = ([], [])
        var others: [(from: Incoming, head: RequestHead, request: Request)] = []
        for message in incoming {
            do {
                try checkUser(of: message)
                let head = try message.head()
                if head.operation == .publish {
                    let batch = IncomingBatch(from: message, head: head, batch: try BatchHead(frames: message.body))
                    try presence.checkUser(of: batch.batch.producer, message.user)
                    if batch.batch.isTransient { transients.append(batch) } else { batches.append(batch) }
                } else {
                    let request = try Request(head.operation, body: message.body)
                    try publisher(of: message)?.rights?.check(request)
                    if let producer = request.producer { try presence.checkUser(of: producer, message.user) }
                    others.append((message, head, request))
                }
            } catch {
                if !refusals.record(error, of: message.user) { recordGarbage(1, error.message) }
                outgoing.refuse(message, error)
            }
        }
        publish(batches, now: now, into: &outgoing)
        passOn(transients, now: now, into: &outgoing)
        for (message, head, request) in others {
            answer(request, from: message, head: head, isShared: isShared, now: now, into: &outgoing)
        }
        keepUp(since: head, now: now, into: &outgoing)
        if journal.hasRemovedLetters { reportRemovedLetters() }
        notices.watchWriting(of: journal, now: now)
        publishNotices(now: now, into: &outgoing)
        return outgoing
    }

    /// Does the work that is due once a second.
    /// - Throws: ``BusError`` if the journal is damaged or is no longer at its path.
    package mutating func tick(now: ContinuousClock.Instant) throws -> Outgoing {
        var outgoing = Outgoing()
        try journal.check()
        desk.expire(now: now, into: &outgoing)
        do {
            try journal.requireLoaded()
            let (silent, hasListened) = presence.check(now: now)
            if !hasListened {
                logger.warning("the broker did not run for more than 2 s, so all leases begin again")
            }
            for producer in silent {
                try leave(producer, now: now, into: &outgoing)
            }
            try warnConsumersBehind(now: now)
            try forgetProducers(now: now)
        } catch {
            logger.error("the maintenance of the journal failed", metadata: ["error": "\(error)"])
        }
        notices.reportGarbage(now: now)
        notices.watchWriting(of: journal, now: now)
        publishNotices(now: now, into: &outgoing)
        return outgoing
    }

    /// Does one step of retention.
    /// - Returns: True if there is more to remove.
    package mutating func prune(now: ContinuousClock.Instant, into outgoing: inout Outgoing) -> Bool {
        prune(count: Self.stepCount, now: now, into: &outgoing)
        return isPruning
    }

    /// Sets the users whose requests are answered, and ends the leases, memberships and served queries of the others.
    /// - Parameter users: Nil on a bus without keys.
    package mutating func accept(_ users: [String: Rights]?, now: ContinuousClock.Instant) -> Outgoing {
        var outgoing = Outgoing()
        guard let users = users?.mapValues({ Publisher($0) }) else { return outgoing }
        (acceptedUsers, ownPublisher) = (users, Publisher())
        desk.cancelQueries(ofUsersBeyond: users, into: &outgoing)
        for producer in presence.producers(withoutUserIn: users) {
            do {
                try leave(producer, now: now, into: &outgoing)
            } catch {
                // The producer is silent from now on, so this is repeated when its lease ends.
                logger.error("the leases of a revoked key could not be ended", metadata: ["error": "\(error)"])
            }
        }
        return outgoing
    }

    /// The requests since the last call that were refused because of their user.
    mutating func drainRefusals() -> RefusedRequests {
        defer { refusals = RefusedRequests() }
        return refusals
    }

    /// Checks a subscription of the feed.
    /// - Returns: False if the user may not receive what it has subscribed to. The refusal is counted.
    mutating func allowsSubscription(to topic: [UInt8], by user: String?) -> Bool {
        guard let acceptedUsers else { return true }
        guard let rights = user.flatMap({ acceptedUsers[$0] })?.rights else { return false }
        guard let refusal = rights.refusalToSubscribe(to: topic) else { return true }
        refusals.record(ProtocolError(.forbidden, refusal), of: user)
        return false
    }

    /// Records that all connections have ended.
    mutating func loseConnections() { desk.loseConnections() }

    /// Logs a notice, and publishes it with the next messages.
    mutating func say(_ notice: BusNotice) { notices.say(notice) }

    /// A connection remains after its key was revoked, so each request is checked.
    private func checkUser(of message: Incoming) throws(ProtocolError) {
        guard let acceptedUsers else { return }
        guard let user = message.user, acceptedUsers[user] != nil else {
            throw ProtocolError(
                .denied, "the broker no longer accepts the key of this process: it is revoked or expired")
        }
    }

    /// The sender of a message. Nil on a bus without keys.
    private func publisher(of message: Incoming) -> Publisher? {
        message.user.flatMap { acceptedUsers?[$0] }
    }

    /// Counts input that does not follow the protocol.
    /// - Parameter reason: The error of the last invalid message.
    mutating func recordGarbage(_ count: Int, _ reason: String) {
        notices.recordGarbage(count, reason)
    }

    // MARK: Publishing

    /// Records batches, and answers their publishers.
    private mutating func publish(
        _ batches: [IncomingBatch], now: ContinuousClock.Instant, into outgoing: inout Outgoing
    ) {
        guard !batches.isEmpty else { return }
        let replies: [Reply]
        do {
            replies = try record(batches, now: now, into: &outgoing)
        } catch {
            replies = repliesAfterFailure(error, to: batches, now: now, into: &outgoing)
        }
        for (batch, reply) in zip(batches, replies) {
            presence.record(batch.batch.producer, user: batch.from.user, now: now)
            if case .refused(let refusal) = reply { refusals.record(refusal, of: batch.from.user) }
            outgoing.reply(reply, to: batch.from, batch.head)
        }
    }

    /// Records batches in one transaction.
    private func record(
        _ batches: [IncomingBatch], now: ContinuousClock.Instant, into outgoing: inout Outgoing
    ) throws -> [Reply] {
        var feed: [FeedMessage] = []
        // A closure that captures the engine would copy it.
        let (journal, users) = (journal, acceptedUsers)
        let replies = try journal.transaction(at: clock.time(at: now)) { transaction in
            try batches.map { batch -> Reply in
                let publisher = batch.from.user.flatMap { users?[$0] }
                do {
                    let offset = try transaction.append(batch.batch, from: publisher, to: &feed)
                    return .published(epoch: journal.epoch, offset: offset)
                } catch let refusal as ProtocolError {
                    return .refused(refusal)
                }
            }
        }
        outgoing.feed += feed
        return replies
    }

    /// The replies if the batches could not be recorded together. Those that are recorded already, because they were
    /// sent again, are answered as the first time: their publishers would treat a refusal as the only answer.
    private func repliesAfterFailure(
        _ error: any Error, to batches: [IncomingBatch], now: ContinuousClock.Instant, into outgoing: inout Outgoing
    ) -> [Reply] {
        let refusal = Reply.refused(refusal(error))
        let repeated = batches.filter { journal.isRepeated($0.batch) }
        guard !repeated.isEmpty, repeated.count < batches.count,
            let replies = try? record(repeated, now: now, into: &outgoing)
        else { return batches.map { _ in refusal } }
        var next = replies.makeIterator()
        return batches.map { journal.isRepeated($0.batch) ? next.next() ?? refusal : refusal }
    }

    /// Publishes transient batches on the feed.
    private mutating func passOn(
        _ batches: [IncomingBatch], now: ContinuousClock.Instant, into outgoing: inout Outgoing
    ) {
        for batch in batches {
            presence.record(batch.batch.producer, user: batch.from.user, now: now)
            do {
                outgoing.feed += try transients.handle(
                    batch.batch, from: publisher(of: batch.from), epoch: journal.epoch)
                outgoing.reply(.published(epoch: journal.epoch, offset: 0), to: batch.from, batch.head)
            } catch {
                let refusal = refusal(error)
                refusals.record(refusal, of: batch.from.user)
                outgoing.reply(.refused(refusal), to: batch.from, batch.head)
            }
        }
    }

    private func refusal(_ error: any Error) -> ProtocolError {
        error as? ProtocolError ?? ProtocolError(.journal, "\(error)")
    }

    // MARK: Answering

    private mutating func answer(
        _ request: Request, from message: Incoming, head: RequestHead, isShared: Bool,
        now: ContinuousClock.Instant, into outgoing: inout Outgoing
    ) {
        do {
            try journal.requireLoaded()
            let reader = publisher(of: message)?.rights
            let rows = isShared ? PageBuilder.sharedCount : Limits.scanCount
            switch request {
            case .read(let request):
                let page = try journal.messages(request, for: reader, rows: rows)
                send(page, to: message, head: head, into: &outgoing)
            case .documents(let request):
                let page = try journal.documents(request, for: reader, rows: rows)
                send(page, to: message, head: head, into: &outgoing)
            case .document(let request): send(try journal.document(request), to: message, head: head, into: &outgoing)
            case .documentsOfSubject(let request):
                send(try journal.documents(request), to: message, head: head, into: &outgoing)
            case .hello(let greeting):
                presence.record(greeting.producer, user: message.user, now: now)
                desk.recordConnection(of: greeting.producer, from: message.peer, into: &outgoing)
                try check(greeting, now: now)
                outgoing.reply(try welcome(greeting), to: message, head)
            case .ask(let request):
                try desk.ask(
                    request, from: message, publisher(of: message)?.name, id: head.id, now: now, into: &outgoing)
            case .cancel(let id):
                desk.cancel(id, peer: message.peer, into: &outgoing)
                outgoing.reply(.done, to: message, head)
            case .answer(let answer):
                if desk.answer(answer, from: message.peer, publisher(of: message)?.name, into: &outgoing) {
                    outgoing.reply(.done, to: message, head)
                }
            case .serve(let request):
                presence.record(request.producer, user: message.user, now: now)
                try desk.serve(request, peer: message.peer)
                outgoing.reply(.done, to: message, head)
            default:
                let reply = try reply(to: request, from: message, now: now, into: &outgoing)
                outgoing.reply(reply, to: message, head)
            }
        } catch {
            outgoing.reply(.refused(refusal(error)), to: message, head)
        }
    }

    private mutating func reply(
        to request: Request, from message: Incoming, now: ContinuousClock.Instant, into outgoing: inout Outgoing
    ) throws -> Reply {
        let reader = publisher(of: message)?.rights
        switch request {
        case .bye(let greeting):
            try leave(greeting.producer, now: now, into: &outgoing)
            return try welcome(greeting)
        case .heads(let page): return .heads(try journal.heads(page, for: reader))
        case .end: return .end(epoch: journal.epoch, offset: journal.head)
        case .count(let page): return .counted(epoch: journal.epoch, count: try journal.count(page, for: reader))
        case .claim(let claim):
            presence.record(claim.producer, user: message.user, now: now)
            let claimed = try journal.claim(claim, by: publisher(of: message)?.name, at: clock.time(at: now))
            owners.record(claim, claimed: claimed, consumer: journal.consumers[claim.consumer])
            return .claimed(claimed)
        case .locate(let time): return .located(epoch: journal.epoch, offset: try journal.locate(time))
        case .deadLetters(let deadLetters): return .deadLetters(try journal.deadLetters(deadLetters))
        case .listDeadLetters(let deadLetters):
            return .deadLetterSummaries(try journal.deadLetters(deadLetters, withData: false))
        case .countDeadLetters(let consumer):
            return .counted(epoch: journal.epoch, count: try journal.letterCount(of: consumer))
        case .consumers: return .consumers(journal.consumerList)
        case .forget(let consumer):
            let owner = owners.liveness(
                of: consumer, consumer: journal.consumers[consumer], presence: presence, now: now)
            try journal.forget(consumer, owner: owner, at: clock.time(at: now))
            owners.remove(consumer)
            lagWarnings.forget(consumer)
            return .done
        case .hello, .publish, .read, .documents, .document, .documentsOfSubject, .serve, .ask, .answer, .cancel:
            throw ProtocolError(.operation, "the operation is unknown")
        }
    }

    private mutating func reportRemovedLetters() {
        let size = configuration.userLimits.deadLetterSize >> 20
        for (consumer, count) in journal.drainRemovedLetters() {
            notices.say(
                .deadLettersRemoved,
                "\(count) of the oldest dead letters of '\(consumer)' were removed: its user had more than \(size) MiB; "
                    + "see 'segue dead list'")
        }
    }

    private mutating func send(
        _ page: PackedPage, to message: Incoming, head: RequestHead, into outgoing: inout Outgoing
    ) {
        notices.report(page.damaged, in: journal)
        outgoing.reply(page, to: message, head)
    }

    /// Begins a new epoch if the mark in a hello shows that the journal was replaced by an older copy or has lost its
    /// end.
    private mutating func check(_ greeting: Greeting, now: ContinuousClock.Instant) throws {
        guard greeting.epoch == journal.epoch,
            let loss = try journal.loss(shownBy: greeting.mark, at: greeting.head, of: greeting.epoch)
        else { return }
        try beginEpoch(after: loss, now: now)
    }

    /// - Parameter loss: A description of the lost messages.
    private mutating func beginEpoch(after loss: String, now: ContinuousClock.Instant) throws {
        try journal.renewEpoch(at: clock.time(at: now))
        notices.say(
            .lostEnd,
            "the journal \(journal.path) \(loss): messages are lost, and all clients start again in a new epoch")
    }

    private func welcome(_ greeting: Greeting) throws -> Reply {
        let more =
            greeting.asksForMore
            ? Welcome.More(start: journal.start, leased: try journal.leaseCount(of: greeting.producer)) : nil
        return .welcome(
            Welcome(
                epoch: journal.epoch, head: journal.head, sequence: journal.producers[greeting.producer]?.sequence ?? 0,
                mark: try journal.markOfEnd(), more: more))
    }

    // MARK: Producers

    private mutating func leave(_ producer: ProducerID, now: ContinuousClock.Instant, into outgoing: inout Outgoing)
        throws
    {
        transients.leave(producer)
        desk.leave(producer, into: &outgoing)
        let isMember = journal.consumers.rows.values.contains { $0.producers.values.contains(producer) }
        if try isMember || journal.leaseCount(of: producer) > 0 {
            var feed: [FeedMessage] = []
            try journal.transaction(at: clock.time(at: now)) { transaction in
                try transaction.withdrawLeases(of: producer, from: ownPublisher, to: &feed)
                try transaction.leave(producer)
            }
            outgoing.feed += feed
        }
        presence.leave(producer)
    }

    private mutating func forgetProducers(now: ContinuousClock.Instant) throws {
        // After the start or an absence of the broker, producers that are alive need time to send a message.
        let since = max(lastForgotten, presence.listening.start)
        if now - since > Self.producerInterval || journal.hasTooManyProducers {
            lastForgotten = now
            try journal.transaction(at: clock.time(at: now)) { try $0.forgetProducers(but: presence.producers) }
        } else if notices.isUnwritable {
            // An empty transaction shows whether the journal can be written again when no client publishes.
            try journal.transaction(at: clock.time(at: now)) { _ in }
        }
    }

    // MARK: Retention

    /// If there is more to remove, runs retention over up to twice as many offsets as were appended since `head`.
    private mutating func keepUp(since head: UInt64, now: ContinuousClock.Instant, into outgoing: inout Outgoing) {
        guard isPruning, journal.head > head else { return }
        prune(count: 2 * Int(clamping: journal.head - head), now: now, into: &outgoing)
    }

    private mutating func prune(count: Int, now: ContinuousClock.Instant, into outgoing: inout Outgoing) {
        isPruning = false
        do {
            let step = try journal.prune(configuration.retention, count: count, at: clock.time(at: now))
            isPruning = step.hasMore
            for name in step.cutOff.sorted() { notices.say(.cutOff(name, by: journal.path)) }
            publishNotices(now: now, into: &outgoing)
        } catch {
            logger.error("retention failed", metadata: ["error": "\(error)"])
        }
    }

    private mutating func warnConsumersBehind(now: ContinuousClock.Instant) throws {
        guard let limit = configuration.retention.size else { return }
        let consumers = journal.consumers.rows
        let warnings = lagWarnings.update(
            consumers.keys, { consumers[$0]?.group.position }, oldest: journal.pruned, end: journal.head,
            used: try journal.usedSize(limit: limit, at: clock.time(at: now)), limit: limit)
        for warning in warnings { notices.say(.consumerBehind, warning) }
    }

    // MARK: Notices

    /// Publishes the notices as messages of the broker. If they cannot be recorded, they are published on the feed
    /// only.
    private mutating func publishNotices(now: ContinuousClock.Instant, into outgoing: inout Outgoing) {
        let notices = notices.drain()
        guard !notices.isEmpty, let describe = configuration.describe else { return }
        let messages = notices.compactMap { describe($0) }.compactMap { try? PublishedMessage($0) }
        var feed: [FeedMessage] = []
        do {
            try journal.transaction(at: clock.time(at: now)) { transaction in
                for message in messages {
                    try transaction.append(message, from: ownPublisher, to: &feed)
                }
            }
        } catch {
            feed = messages.map { message in
                FeedMessage(
                    topic: message.topic, epoch: journal.epoch, offset: 0, previous: 0, header: message.header,
                    data: message.data,
                    origin: ownPublisher.map { VerifiedOrigin(session: message.subject, publisher: $0.name) })
            }
        }
        outgoing.feed += feed
    }
}

/// A message that a peer sent to the ingress.
package struct Incoming {
    /// The routing id that libzmq puts before the message.
    let peer: [UInt8]
    let frames: ArraySlice<[UInt8]>
    /// The user of the connection: the text of its public key. Nil on a bus without keys.
    let user: String?

    package init(peer: [UInt8], frames: [[UInt8]], user: String? = nil) {
        self.peer = peer
        self.frames = frames[...]
        self.user = user
    }

    /// - Parameter message: The frames from the ROUTER socket: the routing id of the peer, then the frames that it
    ///   sent.
    init?(_ message: [[UInt8]], user: String?) {
        guard let peer = message.first else { return nil }
        self.peer = peer
        self.user = user
        frames = message.dropFirst()
    }

    func head() throws(ProtocolError) -> RequestHead {
        guard let first = frames.first else { throw ProtocolError(.malformed, "the request is empty") }
        return try RequestHead(first)
    }

    var body: ArraySlice<[UInt8]> { frames.dropFirst() }

    /// True if the answer has content of the journal.
    var readsJournal: Bool { (try? head().operation.readsJournal) ?? false }
}

/// Requests that were refused because of their users: the number for each kind, and the last one.
struct RefusedRequests {
    /// Those over connections whose keys are no longer accepted.
    private(set) var denied: Refusal?
    /// Those that the rights of their users do not allow.
    private(set) var forbidden: Refusal?

    struct Refusal {
        var count: Int
        var user: String
        var reason: String
    }

    /// Counts a refused request.
    /// - Returns: False if it was refused for another reason than its user.
    @discardableResult
    mutating func record(_ error: ProtocolError, of user: String?) -> Bool {
        func next(_ last: Refusal?) -> Refusal {
            Refusal(count: (last?.count ?? 0) + 1, user: user ?? "", reason: error.message)
        }
        switch error.code {
        case .denied: denied = next(denied)
        case .forbidden: forbidden = next(forbidden)
        default: return false
        }
        return true
    }
}

/// A batch and the request that contained it.
struct IncomingBatch {
    let from: Incoming
    let head: RequestHead
    let batch: BatchHead
}

/// The messages to send: first those of the feed, then the replies.
package struct Outgoing {
    package var feed: [FeedMessage] = []
    /// Replies to clients, and queries and cancellations for clients that serve queries.
    package private(set) var frames: [(peer: [UInt8], frames: [[UInt8]])] = []

    package init() {}

    mutating func reply(_ reply: Reply, to message: Incoming, _ head: RequestHead) {
        frames.append((message.peer, reply.frames(to: head)))
    }

    mutating func reply(_ page: PackedPage, to message: Incoming, _ head: RequestHead) {
        frames.append((message.peer, page.frames(to: head)))
    }

    /// Refuses a request that could not be read or is not allowed. The reply begins with the first 12 bytes, or fewer,
    /// of the request.
    mutating func refuse(_ message: Incoming, _ error: ProtocolError) {
        var head = Array((message.frames.first ?? []).prefix(RequestHead.length))
        // Only the broker sends the operation `query`. The client would treat a reply with this operation as a query,
        // so the operation of this reply is 0.
        if (try? RequestHead(head).operation) == .query { head[RequestHead.operationIndex] = 0 }
        frames.append((message.peer, Reply.refused(error).frames(head: head)))
    }

    mutating func send(_ frames: [[UInt8]], to peer: [UInt8]) {
        self.frames.append((peer, frames))
    }
}
