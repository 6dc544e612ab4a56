internal import BusProtocol

extension BrokerEngine {
    mutating func answer(
        _ request: Request, _ message: Incoming, _ head: RequestHead, now: ContinuousClock.Instant,
        _ outgoing: inout Outgoing
    ) {
        do {
            switch request {
            case .read(let page): outgoing.reply(try journal.messages(page), to: message, head)
            case .documents(let page): outgoing.reply(try journal.documents(page), to: message, head)
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
            return welcome(greeting.producer)
        case .bye(let greeting):
            try leave(greeting.producer, now: now, &outgoing)
            return welcome(greeting.producer)
        case .heads(let page): return .heads(try journal.heads(page))
        case .claim(let claim):
            heard[claim.producer] = now
            return .claimed(try journal.claim(claim, at: clock.time(at: now)))
        case .locate(let time): return .located(epoch: journal.epoch, offset: try journal.locate(time))
        case .letters(let letters): return .letters(try journal.letters(letters))
        case .publish, .read, .documents, .serve, .ask, .answer, .cancel:
            throw ProtocolError(.operation, "the operation is not known")
        }
    }

    private func welcome(_ producer: ProducerID) -> Reply {
        .welcome(
            Welcome(
                epoch: journal.epoch, head: journal.head, sequence: journal.producers[producer]?.sequence ?? 0))
    }
}
