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
}
