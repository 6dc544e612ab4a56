extension InMemoryHub {
    func subscribe(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?
    ) throws -> InMemorySubscription.ID {
        var subscription = InMemorySubscription(filters: filters, next: journal.count)
        if let end {
            try requireThisJournal(end)
            subscription.end = Int(clamping: end.offset)
        }
        switch start {
        case .now: break
        case .beginning: subscription.next = 0
        case .retained:
            let documents = documents(matching: filters)
            subscription.retained = documents.prefix { ($0.position?.offset ?? 0) <= end?.offset ?? .max }
        case .after(let position):
            try requireThisJournal(position)
            guard position.offset <= UInt64(journal.count) else {
                throw BusError(.epoch, "the position \(position) is behind the journal's end, \(journal.count)")
            }
            subscription.next = Int(clamping: position.offset)
        case .since(let time): subscription.next = journal.firstIndex { $0.time >= time } ?? journal.count
        }
        subscriptions[subscription.id] = subscription
        return subscription.id
    }

    func subscribe(
        to filters: [MessageFilter], under claim: ConsumerClaim
    ) throws -> InMemorySubscription.ID {
        try requireThisJournal(claim.position)
        let subscription = InMemorySubscription(
            filters: filters, next: Int(clamping: claim.position.offset), claim: claim)
        // Otherwise it has ended before it begins.
        if isCurrent(claim) { subscriptions[subscription.id] = subscription }
        return subscription.id
    }

    func unsubscribe(_ id: InMemorySubscription.ID) {
        subscriptions.removeValue(forKey: id)?.wake?.finish()
    }

    /// Ends what reads under claims that no longer say what their members own.
    func endSubscriptions(of consumer: String) {
        for case (let id, let claim?) in subscriptions.mapValues(\.claim)
        where claim.consumer == consumer && !isCurrent(claim) {
            unsubscribe(id)
        }
    }

    /// Waits for the next message of a subscription; nil when the subscription has ended.
    func next(of id: InMemorySubscription.ID, for handle: InMemoryEventBus.ID) async throws -> Envelope? {
        while true {
            try Task.checkCancellation()
            try requireOpen(handle)
            guard subscriptions[id] != nil else { return nil }
            if let message = subscriptions[id]?.take(from: journal) { return message }
            if subscriptions[id]?.isAtEnd == true { return nil }
            // The stream is in place before anything suspends, so nothing that is published from here on is missed.
            // It ends by being finished, or at once when the reader is cancelled.
            let (news, continuation) = AsyncStream.makeStream(of: Never.self)
            subscriptions[id]?.wake = continuation
            for await _ in news {}
        }
    }

    func wakeSubscribers() {
        for id in subscriptions.keys {
            subscriptions[id]?.wake?.finish()
            subscriptions[id]?.wake = nil
        }
    }
}
