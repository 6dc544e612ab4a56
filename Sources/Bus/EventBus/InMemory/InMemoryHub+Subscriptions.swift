extension InMemoryHub {
    func subscribe(
        to filters: [MessageFilter], from start: StartPosition, for handle: InMemoryEventBus.ID
    ) throws -> InMemorySubscription.ID {
        try requireOpen(handle)
        var subscription = InMemorySubscription(handle: handle, filters: filters, next: journal.count)
        switch start {
        case .now: break
        case .beginning: subscription.next = 0
        case .retained: subscription.retained = documents(matching: filters)[...]
        case .after(let position):
            try requireThisJournal(position)
            subscription.next = Int(clamping: position.offset)
        case .since(let time): subscription.next = journal.firstIndex { $0.time >= time } ?? journal.count
        }
        subscriptions[subscription.id] = subscription
        return subscription.id
    }

    func subscribe(
        to filters: [MessageFilter], under claim: ConsumerClaim, for handle: InMemoryEventBus.ID
    ) throws -> InMemorySubscription.ID {
        try requireOpen(handle)
        try requireThisJournal(claim.position)
        let subscription = InMemorySubscription(
            handle: handle, filters: filters, next: Int(clamping: claim.position.offset), claim: claim)
        subscriptions[subscription.id] = subscription
        return subscription.id
    }

    func unsubscribe(_ id: InMemorySubscription.ID) {
        subscriptions.removeValue(forKey: id)
    }

    /// Waits for the next message of a subscription; nil when the subscription has ended.
    func next(of id: InMemorySubscription.ID) async throws -> Envelope? {
        while true {
            try Task.checkCancellation()
            guard let subscription = subscriptions[id] else { return nil }
            try requireOpen(subscription.handle)
            if let claim = subscription.claim, !isCurrent(claim) {
                unsubscribe(id)
                return nil
            }
            if let message = subscriptions[id]?.take(from: journal) { return message }
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
