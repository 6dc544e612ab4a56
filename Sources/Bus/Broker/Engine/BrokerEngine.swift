package import BusProtocol
internal import EventBus
internal import Foundation
package import Logging

/// The broker without its sockets: requests in, replies and feed messages out.
///
/// All batches of a turn are journalled in one commit, before anything of them goes out.
package struct BrokerEngine {
    package let journal: Journal
    let configuration: BrokerConfiguration
    let clock: BrokerClock
    let logger: Logger
    /// When each producer last said something.
    var heard: [ProducerID: ContinuousClock.Instant] = [:]
    var lastLook: ContinuousClock.Instant
    /// Since when the broker has heard what is said: its start, or its return after an absence.
    var listeningSince: ContinuousClock.Instant
    /// Of the durable consumers that were claimed exclusively; see ``ExclusiveOwner``.
    var owners: [String: ExclusiveOwner] = [:]
    /// The last transient batch of each producer that is heard.
    var transientSequences: [ProducerID: UInt64] = [:]
    /// The topics of transient messages: the journal need not have them.
    var transientTopics = TopicTable()
    var desk = QueryDesk()
    /// What is to be published of the broker's own.
    var notices: [BrokerNotice] = []
    /// When the journal last could not be written; nil once it can.
    var lastWriteFailure: ContinuousClock.Instant?
    /// The offsets of damaged messages that everybody knows of.
    var reportedDamage: Set<UInt64> = []
    var warnedConsumers: Set<String> = []
    var cutOffConsumers: Set<String> = []
    /// Whether retention has more to remove.
    var isPruning = false
    /// When silent producers were last forgotten, or the broker began to listen: whoever lives needs time to say so.
    var lastForgotten: ContinuousClock.Instant
    var garbageCount = 0
    var lastGarbage = ""
    var lastGarbageReport: ContinuousClock.Instant?

    /// - Parameter now: leases and memberships that the journal holds count from here: their owners may have outlived the
    ///   broker.
    package init(
        journal: Journal, configuration: BrokerConfiguration, logger: Logger, clock: BrokerClock,
        now: ContinuousClock.Instant
    ) throws {
        self.journal = journal
        self.configuration = configuration
        self.logger = logger
        // A journal whose end is damaged can no longer be trusted: the first tick says so, and how to save the rest.
        self.clock = clock.notBefore((try? journal.lastTime()) ?? 0, at: now)
        lastLook = now
        listeningSince = now
        lastForgotten = now
        let members = journal.consumers.values.flatMap { $0.producers.values }
        for producer in try journal.leaseOwners() + members {
            heard[producer] = now
        }
    }

    package mutating func handle(_ incoming: [Incoming], now: ContinuousClock.Instant) -> Outgoing {
        var outgoing = Outgoing()
        let head = journal.head
        var (batches, transients): ([IncomingBatch], [IncomingBatch]) = ([], [])
        var others: [(from: Incoming, head: RequestHead, request: Request)] = []
        for message in incoming {
            do {
                let head = try message.head()
                if head.operation == .publish {
                    let batch = IncomingBatch(from: message, head: head, batch: try BatchHead(frames: message.body))
                    if batch.batch.isTransient { transients.append(batch) } else { batches.append(batch) }
                } else {
                    others.append((message, head, try Request(head.operation, body: message.body)))
                }
            } catch {
                noteGarbage(1, error.message)
                outgoing.refuse(message, error)
            }
        }
        publish(batches, now: now, &outgoing)
        passOn(transients, now: now, &outgoing)
        for (message, head, request) in others {
            answer(request, message, head, now: now, &outgoing)
        }
        keepUp(since: head, now: now, &outgoing)
        watchWriting(now: now)
        publishNotices(now: now, &outgoing)
        return outgoing
    }

    /// Journals the batches of a turn in one transaction.
    mutating func publish(_ batches: [IncomingBatch], now: ContinuousClock.Instant, _ outgoing: inout Outgoing) {
        guard !batches.isEmpty else { return }
        var feed: [FeedMessage] = []
        var replies: [Reply] = []
        do {
            try journal.transaction(at: clock.time(at: now)) { database in
                for batch in batches {
                    do {
                        let offset = try journal.append(batch.batch, to: &feed, database)
                        replies.append(.published(epoch: journal.epoch, offset: offset))
                    } catch let refusal as ProtocolError {
                        replies.append(.refused(refusal))
                    }
                }
            }
            outgoing.feed += feed
        } catch {
            let refusal = error as? ProtocolError ?? ProtocolError(.journal, "\(error)")
            replies = batches.map { _ in .refused(refusal) }
        }
        for (batch, reply) in zip(batches, replies) {
            heard[batch.batch.producer] = now
            outgoing.reply(reply, to: batch.from, batch.head)
        }
    }

    /// Hands transient batches on to whoever listens now.
    mutating func passOn(_ batches: [IncomingBatch], now: ContinuousClock.Instant, _ outgoing: inout Outgoing) {
        for batch in batches {
            heard[batch.batch.producer] = now
            do {
                try passOn(batch.batch, to: &outgoing.feed)
                outgoing.reply(.published(epoch: journal.epoch, offset: 0), to: batch.from, batch.head)
            } catch {
                outgoing.reply(.refused(refusal(error)), to: batch.from, batch.head)
            }
        }
    }

    private mutating func passOn(_ batch: BatchHead, to feed: inout [FeedMessage]) throws {
        let content = try BatchContent(of: batch)
        let scanned = try ScannedBatch(content.messages, count: batch.count, topics: transientTopics)
        guard !scanned.hasDocuments else {
            throw ProtocolError(.topic, "documents cannot be transient: they are retained")
        }
        // No journal has them to be read from, so they are on the feed whole.
        guard scanned.messages.allSatisfy({ $0.header.count + $0.data.count <= Limits.feedSize }) else {
            throw ProtocolError(.tooLarge, "a transient message has at most \(Limits.feedSize) bytes")
        }
        // Behind what can be refused: a batch that is refused is refused each time.
        guard batch.sequence > transientSequences[batch.producer] ?? 0 else { return }
        transientSequences[batch.producer] = batch.sequence
        guard transientTopics.entries.count + scanned.newTopics.count <= TopicTable.capacity else {
            throw ProtocolError(.tooLarge, "there are \(TopicTable.capacity) topics already: use fewer types")
        }
        let new = try scanned.newTopics.map { try transientTopics.add($0, id: 0, head: 0) }
        for message in scanned.messages {
            let topic = transientTopics[message.topic.index(amongNew: new)]
            feed.append(
                FeedMessage(
                    topic: topic.name, epoch: journal.epoch, offset: 0, previous: 0,
                    header: scanned.frame[message.header], data: scanned.frame[message.data]))
        }
    }

    func refusal(_ error: any Error) -> ProtocolError {
        error as? ProtocolError ?? ProtocolError(.journal, "\(error)")
    }

    mutating func answer(
        _ request: Request, _ message: Incoming, _ head: RequestHead, now: ContinuousClock.Instant,
        _ outgoing: inout Outgoing
    ) {
        do {
            try journal.requireLoaded()
            switch request {
            case .read(let request): send(try journal.messages(request), to: message, head, &outgoing)
            case .documents(let request): send(try journal.documents(request), to: message, head, &outgoing)
            case .document(let request): send(try journal.document(request), to: message, head, &outgoing)
            case .ask(let request): try desk.ask(request, peer: message.peer, id: head.id, now: now, &outgoing)
            case .cancel(let id):
                desk.cancel(id, peer: message.peer, &outgoing)
                outgoing.reply(.done, to: message, head)
            case .serve(let request):
                heard[request.producer] = now
                try desk.serve(request, peer: message.peer)
                outgoing.reply(.done, to: message, head)
            default: outgoing.reply(try reply(to: request, now: now, &outgoing), to: message, head)
            }
        } catch {
            outgoing.reply(.refused(refusal(error)), to: message, head)
        }
    }

    private mutating func reply(
        to request: Request, now: ContinuousClock.Instant, _ outgoing: inout Outgoing
    ) throws -> Reply {
        switch request {
        case .hello(let greeting):
            heard[greeting.producer] = now
            try check(greeting, now: now)
            return try welcome(greeting)
        case .bye(let greeting):
            try leave(greeting.producer, now: now, &outgoing)
            return try welcome(greeting)
        case .heads(let page): return .heads(try journal.heads(page))
        case .claim(let claim):
            heard[claim.producer] = now
            let claimed = try journal.claim(claim, at: clock.time(at: now))
            noteOwner(claim, claimed)
            return .claimed(claimed)
        case .locate(let time): return .located(epoch: journal.epoch, offset: try journal.locate(time))
        case .letters(let letters): return .letters(try journal.letters(letters))
        case .consumers: return .consumers(journal.consumerList)
        case .forget(let consumer):
            try requireNoOwner(of: consumer, now: now)
            try journal.forget(consumer, at: clock.time(at: now))
            owners[consumer] = nil
            warnedConsumers.remove(consumer)
            cutOffConsumers.remove(consumer)
            return .done
        case .answer(let answer):
            desk.answer(answer, &outgoing)
            return .done
        case .publish, .read, .documents, .document, .serve, .ask, .cancel:
            throw ProtocolError(.operation, "the operation is not known")
        }
    }

    private mutating func send(
        _ page: PackedPage, to message: Incoming, _ head: RequestHead, _ outgoing: inout Outgoing
    ) {
        report(page.damaged)
        outgoing.reply(page, to: message, head)
    }

    /// Begins a new epoch when a mark from an earlier hello shows that the journal's file, or the end of it, was put back. What
    /// a client says that it has seen would show it as well, but anybody can say that.
    private mutating func check(_ greeting: Greeting, now: ContinuousClock.Instant) throws {
        guard greeting.epoch == journal.epoch,
            let loss = try journal.loss(shownBy: greeting.mark, at: greeting.head)
        else { return }
        try journal.renewEpoch(at: clock.time(at: now))
        say(
            .lostEnd,
            "the journal \(journal.path) \(loss): what was behind is lost; everybody begins anew in a new epoch")
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

    private static var producerInterval: Duration { .seconds(3600) }
    private static var garbageInterval: Duration { .seconds(5) }

    /// What is done once a second.
    /// - Throws: ``BusError`` when the journal can no longer be trusted.
    package mutating func tick(now: ContinuousClock.Instant) throws -> Outgoing {
        var outgoing = Outgoing()
        if let failure = journal.failure { throw failure }
        try journal.file.check()
        desk.expire(now: now, &outgoing)
        do {
            try journal.requireLoaded()
            try expireLeases(now: now, &outgoing)
            try warnConsumersBehind(now: now)
            if now - lastForgotten > Self.producerInterval || journal.producers.count > ProducerRow.capacity {
                lastForgotten = now
                try journal.transaction(at: clock.time(at: now)) { database in
                    try journal.forgetProducers(but: heard.keys, database)
                }
            } else if lastWriteFailure != nil {
                // Tells whether the journal can be written again while nobody publishes; on a full disk a row that nobody
                // needs would take the room that was just made.
                try journal.transaction(at: clock.time(at: now)) { _ in }
            }
        } catch {
            logger.error("the journal cannot be kept in order", metadata: ["error": "\(error)"])
        }
        reportGarbage(now: now)
        watchWriting(now: now)
        publishNotices(now: now, &outgoing)
        return outgoing
    }

    /// - Parameter reason: what was wrong with the last of it.
    mutating func noteGarbage(_ count: Int, _ reason: String) {
        guard count > 0 else { return }
        garbageCount += count
        lastGarbage = reason
    }

    /// A peer that speaks another protocol is named in the log now and then, however often it tries.
    private mutating func reportGarbage(now: ContinuousClock.Instant) {
        guard garbageCount > 0, lastGarbageReport.map({ now - $0 >= Self.garbageInterval }) ?? true else { return }
        logger.warning(
            "what is not the protocol was refused or dropped",
            metadata: ["count": "\(garbageCount)", "last": "\(lastGarbage)"])
        garbageCount = 0
        lastGarbageReport = now
    }

    /// A producer that is silent for longer loses its leased documents, and its memberships.
    static let leaseDuration: Duration = .seconds(5)
    /// Twice as long as from one look to the next: less than a lease, so that what waits to be heard counts before it ends.
    private static let absence: Duration = .seconds(2)

    /// Lets those go that have gone silent.
    mutating func expireLeases(now: ContinuousClock.Instant, _ outgoing: inout Outgoing) throws {
        if now - lastLook > Self.absence {
            // It was the broker that was away, stopped or asleep: it has not heard what was said meanwhile.
            heard = heard.mapValues { _ in now }
            lastForgotten = now
            listeningSince = now
        }
        lastLook = now
        for (producer, last) in heard where now - last > Self.leaseDuration {
            try leave(producer, now: now, &outgoing)
        }
    }

    mutating func leave(_ producer: ProducerID, now: ContinuousClock.Instant, _ outgoing: inout Outgoing) throws {
        transientSequences[producer] = nil
        desk.leave(producer, &outgoing)
        let isMember = journal.consumers.values.contains { $0.producers.values.contains(producer) }
        if try isMember || journal.hasLeases(producer) {
            var feed: [FeedMessage] = []
            try journal.transaction(at: clock.time(at: now)) { database in
                try journal.withdrawLeases(of: producer, to: &feed, database)
                try journal.leave(producer, database)
            }
            outgoing.feed += feed
        }
        heard[producer] = nil
    }

    /// Offsets of one step of retention, which takes a few milliseconds.
    private static var stepCount: Int { 2000 }

    /// Does one step of retention.
    /// - Returns: whether there is more to do.
    package mutating func prune(now: ContinuousClock.Instant, _ outgoing: inout Outgoing) -> Bool {
        prune(count: Self.stepCount, now: now, &outgoing)
        return isPruning
    }

    /// Removes twice what a turn appended while there is something to remove: under load the journal would grow for ever, and
    /// the turn takes no more than twice its time.
    mutating func keepUp(since head: UInt64, now: ContinuousClock.Instant, _ outgoing: inout Outgoing) {
        guard isPruning, journal.head > head else { return }
        prune(count: 2 * Int(clamping: journal.head - head), now: now, &outgoing)
    }

    private mutating func prune(count: Int, now: ContinuousClock.Instant, _ outgoing: inout Outgoing) {
        isPruning = false
        do {
            let step = try journal.prune(configuration.retention, count: count, at: clock.time(at: now))
            isPruning = step.hasMore
            for name in step.cutOff.sorted() where cutOffConsumers.insert(name).inserted {
                say(
                    .consumerCutOff,
                    "messages that \(name) had yet to handle are removed: the journal \(journal.path) has reached its size; "
                        + "\(name) is told which with its next claim")
            }
            cutOffConsumers = cutOffConsumers.filter { journal.consumers[$0]?.cutOffs.isEmpty == false }
            publishNotices(now: now, &outgoing)
        } catch {
            logger.error("retention failed", metadata: ["error": "\(error)"])
        }
    }

    /// Warns once of every consumer that has yet to handle the oldest fifth of a journal that is four fifths full.
    mutating func warnConsumersBehind(now: ContinuousClock.Instant) throws {
        guard let limit = configuration.retention.size else { return }
        let size = try journal.usedSize(limit: limit, at: clock.time(at: now))
        let length = journal.head - journal.pruned
        // Who was warned is warned again only after it has caught up well, or room has been made.
        warnedConsumers = warnedConsumers.filter { name in
            let position = journal.consumers[name]?.group.position ?? journal.head
            return size >= limit / 10 * 7 && position < journal.pruned + length / 2
        }
        guard size >= limit / 10 * 8 else { return }
        for (name, consumer) in journal.consumers.sorted(by: { $0.key < $1.key })
        where consumer.group.position < journal.pruned + length / 5 && warnedConsumers.insert(name).inserted {
            say(
                .consumerBehind,
                "\(name) has handled only up to \(consumer.group.position) of \(journal.head), and the journal "
                    + "\(journal.path) is \(size * 100 / limit) % full: at 100 % \(name) loses messages")
        }
    }

    mutating func say(_ code: BrokerNotice.Code, _ message: String) {
        let level: Logger.Level =
            switch code {
            case .damaged, .lostEnd, .unwritable: .error
            case .consumerBehind, .consumerCutOff: .warning
            case .writable: .notice
            }
        logger.log(level: level, "\(message)", metadata: ["code": "\(code.rawValue)"])
        notices.append(BrokerNotice(code, message))
    }

    /// Tells when the journal stops, and begins again, to take what is published. A small batch may still fit on a disk that
    /// is full: it counts as mended only after a while without a failure.
    mutating func watchWriting(now: ContinuousClock.Instant) {
        if let failure = journal.takeWriteFailure() {
            if lastWriteFailure == nil { say(.unwritable, failure) }
            lastWriteFailure = now
        } else if let last = lastWriteFailure, now - last > Self.mendedDuration {
            lastWriteFailure = nil
            say(.writable, "the journal \(journal.path) can be written again")
        }
    }

    private static var mendedDuration: Duration { .seconds(3) }

    /// Publishes what there is to say as messages of the broker's own: on the feed alone when they cannot be journalled.
    mutating func publishNotices(now: ContinuousClock.Instant, _ outgoing: inout Outgoing) {
        defer { notices = [] }
        guard !notices.isEmpty, let describe = configuration.describe else { return }
        let messages = notices.compactMap { describe($0) }.compactMap { try? PublishedMessage($0) }
        var feed: [FeedMessage] = []
        do {
            try journal.transaction(at: clock.time(at: now)) { database in
                for message in messages {
                    try journal.append(message, to: &feed, database)
                }
            }
        } catch {
            feed = messages.map {
                FeedMessage(
                    topic: $0.topic, epoch: journal.epoch, offset: 0, previous: 0, header: $0.header, data: $0.data)
            }
        }
        outgoing.feed += feed
    }

    /// Tells of each damaged message once.
    mutating func report(_ damaged: [UInt64]) {
        let new = damaged.filter { !reportedDamage.contains($0) }
        guard !new.isEmpty, reportedDamage.count < Self.damageCount else { return }
        reportedDamage.formUnion(new)
        let offsets = new.prefix(10).map(String.init).joined(separator: ", ") + (new.count > 10 ? ", …" : "")
        say(
            .damaged,
            "\(new.count) messages of the journal \(journal.path) are damaged and cannot be delivered: \(offsets)")
    }

    /// Reports of damage that are remembered, so as not to be repeated.
    private static var damageCount: Int { 10_000 }

    /// Takes note of the owner that a claim, a renewal or a leave tells of.
    mutating func noteOwner(_ request: ClaimRequest, _ claimed: Claimed) {
        let member = request.member.id
        guard request.member.mode == .exclusive else {
            // A shared member displaces an exclusive one.
            if request.purpose == .claim { owners[request.consumer] = nil }
            return
        }
        switch request.purpose {
        case .claim: owners[request.consumer] = ExclusiveOwner(member: member, producer: request.producer)
        case .renewal:
            // A reader renews until it has ended, also after its member has left.
            guard owners[request.consumer]?.member != member, !claimed.offsets.isEmpty else { return }
            owners[request.consumer] = ExclusiveOwner(member: member, producer: request.producer)
        case .leave:
            guard journal.consumers[request.consumer]?.exclusiveOwner == member else { return }
            owners[request.consumer] = ExclusiveOwner(member: member, producer: nil)
        }
    }

    /// - Throws: ``ProtocolError`` with code `malformed` while the process of an exclusive owner is heard, or may be alive.
    func requireNoOwner(of name: String, now: ContinuousClock.Instant) throws {
        guard let member = journal.consumers[name]?.exclusiveOwner else { return }
        guard let owner = owners[name], owner.member == member else {
            guard now - listeningSince > Self.leaseDuration else {
                throw ProtocolError(
                    .malformed,
                    "the broker does not know yet whether a process runs the durable consumer '\(name)'; "
                        + "try again after \(Self.leaseDuration.components.seconds) s")
            }
            return
        }
        guard owner.producer.flatMap({ heard[$0] }) == nil else {
            throw ProtocolError(.malformed, "a process runs the durable consumer '\(name)'; stop it first")
        }
    }
}

/// The exclusive member of a durable consumer, and the producer that keeps it alive. The journal does not keep the producer: a
/// broker that was restarted learns it from the member's next renewal, which comes once a second.
struct ExclusiveOwner {
    let member: UUID
    /// Nil once the member has left.
    let producer: ProducerID?
}

extension Consumer {
    /// Nil while members share the consumer, or nobody has claimed it.
    fileprivate var exclusiveOwner: UUID? {
        group.shares.first?.member.flatMap { group.members.contains($0) ? nil : $0 }
    }
}

/// What a peer sent to the ingress.
package struct Incoming {
    /// The routing id that libzmq put before it.
    let peer: [UInt8]
    let frames: ArraySlice<[UInt8]>

    package init(peer: [UInt8], frames: [[UInt8]]) {
        self.peer = peer
        self.frames = frames[...]
    }

    /// - Parameter message: as it came from a ROUTER, its peer first.
    init?(_ message: [[UInt8]]) {
        guard let peer = message.first else { return nil }
        self.peer = peer
        frames = message.dropFirst()
    }

    func head() throws(ProtocolError) -> RequestHead {
        guard let first = frames.first else { throw ProtocolError(.malformed, "the request is empty") }
        return try RequestHead(first)
    }

    var body: ArraySlice<[UInt8]> { frames.dropFirst() }
}

/// A batch with the request that brought it.
struct IncomingBatch {
    let from: Incoming
    let head: RequestHead
    let batch: BatchHead
}

/// What one turn sends, the feed first: whoever gets an acknowledgement can already be heard.
package struct Outgoing {
    package var feed: [FeedMessage] = []
    /// Replies, and notices to those who serve queries.
    package private(set) var frames: [(peer: [UInt8], frames: [[UInt8]])] = []

    package init() {}

    mutating func reply(_ reply: Reply, to message: Incoming, _ head: RequestHead) {
        frames.append((message.peer, reply.frames(to: head)))
    }

    mutating func reply(_ page: PackedPage, to message: Incoming, _ head: RequestHead) {
        frames.append((message.peer, page.frames(to: head)))
    }

    /// Answers what could not be read, with as much of its first frame as a head has.
    mutating func refuse(_ message: Incoming, _ error: ProtocolError) {
        var head = Array((message.frames.first ?? []).prefix(RequestHead.length))
        // A reply to what only a broker sends would look like a query itself: it names no operation.
        if (try? RequestHead(head).operation) == .query { head[RequestHead.operationIndex] = 0 }
        frames.append((message.peer, Reply.refused(error).frames(head: head)))
    }

    mutating func send(_ frames: [[UInt8]], to peer: [UInt8]) {
        self.frames.append((peer, frames))
    }
}
