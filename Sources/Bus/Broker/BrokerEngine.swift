internal import BusProtocol
internal import EventBus

/// The broker without its sockets: requests in, replies and feed messages out.
///
/// All batches of a turn are journalled in one commit, before anything of them goes out.
struct BrokerEngine {
    /// A producer that is silent for longer loses its leased documents.
    static let leaseDuration: Duration = .seconds(5)

    let journal: Journal
    private var heard: [ProducerID: ContinuousClock.Instant] = [:]
    private var lastLook: ContinuousClock.Instant

    /// - Parameter now: the leases that the journal holds count from here: their owners may have outlived the broker.
    init(journal: Journal, now: ContinuousClock.Instant) throws {
        self.journal = journal
        lastLook = now
        for owner in try journal.leaseOwners() {
            heard[owner] = now
        }
    }

    mutating func handle(_ incoming: [Incoming], now: ContinuousClock.Instant) -> Outgoing {
        var outgoing = Outgoing()
        var batches: [(from: Incoming, head: RequestHead, request: PublishRequest)] = []
        var others: [(from: Incoming, head: RequestHead, request: Request)] = []
        for message in incoming {
            do {
                let (head, request) = try message.request()
                if case .publish(let batch) = request {
                    batches.append((message, head, batch))
                } else {
                    others.append((message, head, request))
                }
            } catch {
                outgoing.reply(.refused(error), to: message)
            }
        }
        publish(batches, now: now, &outgoing)
        for (message, head, request) in others {
            outgoing.reply(answer(request, now: now, &outgoing), to: message, head)
        }
        return outgoing
    }

    /// Withdraws the leased documents of producers that have gone silent.
    mutating func expireLeases(now: ContinuousClock.Instant) throws -> Outgoing {
        var outgoing = Outgoing()
        if now - lastLook > Self.leaseDuration {
            // It was the broker that was away, stopped or asleep: it has not heard what was said meanwhile.
            heard = heard.mapValues { _ in now }
        }
        lastLook = now
        for (owner, last) in heard where now - last > Self.leaseDuration {
            try withdraw(owner, &outgoing)
        }
        return outgoing
    }

    private mutating func publish(
        _ batches: [(from: Incoming, head: RequestHead, request: PublishRequest)], now: ContinuousClock.Instant,
        _ outgoing: inout Outgoing
    ) {
        guard !batches.isEmpty else { return }
        var feed: [FeedMessage] = []
        var replies: [Reply] = []
        do {
            try journal.transaction { database in
                for (_, _, request) in batches {
                    do {
                        let appended = try journal.append(request, database)
                        feed += appended.messages
                        replies.append(.published(epoch: journal.epoch, offset: appended.offset))
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
            heard[batch.request.producer] = now
            outgoing.reply(reply, to: batch.from, batch.head)
        }
    }

    private mutating func answer(
        _ request: Request, now: ContinuousClock.Instant, _ outgoing: inout Outgoing
    ) -> Reply {
        do {
            switch request {
            case .hello(let producer):
                heard[producer] = now
                return welcome(producer)
            case .bye(let producer):
                try withdraw(producer, &outgoing)
                return welcome(producer)
            case .read(let page): return .page(try journal.messages(page))
            case .documents(let page): return .page(try journal.documents(page))
            case .heads(let page): return .heads(try journal.heads(page))
            case .claim(let claim):
                let row = try journal.claim(claim)
                return .claimed(ownerEpoch: row.ownerEpoch, epoch: journal.epoch, offset: row.offset)
            case .publish: return .refused(ProtocolError(.operation, "batches are journalled together"))
            }
        } catch {
            return .refused(error as? ProtocolError ?? ProtocolError(.journal, "\(error)"))
        }
    }

    private func welcome(_ producer: ProducerID) -> Reply {
        .welcome(
            Welcome(
                epoch: journal.epoch, head: journal.head, sequence: journal.producers[producer]?.sequence ?? 0))
    }

    private mutating func withdraw(_ owner: ProducerID, _ outgoing: inout Outgoing) throws {
        try journal.transaction { database in
            outgoing.feed += try journal.withdrawLeases(of: owner, database)
        }
        heard[owner] = nil
    }
}
