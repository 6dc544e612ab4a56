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
            guard position.epoch == epoch else { throw epochError(position) }
            subscription.next = Int(clamping: position.offset)
        }
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
            guard let handle = subscriptions[id]?.handle else { return nil }
            try requireOpen(handle)
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
