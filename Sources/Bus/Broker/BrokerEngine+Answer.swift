internal import BusProtocol

extension BrokerEngine {
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
            return try welcome(greeting.producer)
        case .bye(let greeting):
            try leave(greeting.producer, now: now, &outgoing)
            return try welcome(greeting.producer)
        case .heads(let page): return .heads(try journal.heads(page))
        case .claim(let claim):
            heard[claim.producer] = now
            return .claimed(try journal.claim(claim, at: clock.time(at: now)))
        case .locate(let time): return .located(epoch: journal.epoch, offset: try journal.locate(time))
        case .letters(let letters): return .letters(try journal.letters(letters))
        case .consumers: return .consumers(journal.consumerList)
        case .forget(let consumer):
            try journal.forget(consumer, at: clock.time(at: now))
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

    /// Whoever has seen more of the journal than there is, or another message where one stands now, has seen what is lost:
    /// its file, or the end of it, was put back.
    private mutating func check(_ greeting: Greeting, now: ContinuousClock.Instant) throws {
        guard greeting.epoch == journal.epoch else { return }
        let finding: String
        if greeting.offset > journal.head {
            finding = "ends at \(journal.head), but \(greeting.offset) has been read of it"
        } else if greeting.mark != 0, case let mark = try journal.mark(of: greeting.head), mark != 0,
            mark != greeting.mark
        {
            finding = "has another message at \(greeting.head) than it had"
        } else {
            return
        }
        try journal.renewEpoch(at: clock.time(at: now))
        say(
            .lostEnd,
            "the journal \(journal.path) \(finding): what was behind is lost; everybody begins anew in a new epoch")
    }

    private func welcome(_ producer: ProducerID) throws -> Reply {
        .welcome(
            Welcome(
                epoch: journal.epoch, head: journal.head, sequence: journal.producers[producer]?.sequence ?? 0,
                mark: try journal.mark(of: journal.head)))
    }
}
