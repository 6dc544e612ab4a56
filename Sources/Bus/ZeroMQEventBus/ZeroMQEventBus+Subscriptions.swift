internal import BusProtocol
public import EventBus
internal import Foundation
internal import Logging
internal import OrderedCollections
internal import ZeroMQ

extension ZeroMQEventBus {
    /// Messages taken from the feed in one turn: readers have their turn before their room is full, and the other socket too.
    private static let turnCount = 512

    public nonisolated func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        let id = try await subscribe(to: filters.topicPrefixes, from: start, until: end, onNotice: onNotice)
        defer { thread.perform { [weak self] in self?.assumeIsolated { $0.unsubscribe(id) } } }
        return try await body(
            messages(of: id) { [skipped] message in
                // Who reads no header cannot say who it is for; who keeps no progress cannot give it up either.
                if let header = message.unreadableHeader { skipped.note(header.reason) }
                return message.unreadableHeader == nil && filters.contains { $0.matches(message) }
            })
    }

    public nonisolated func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        let start: StartPosition = claim.offsets.isEmpty ? .now : .after(claim.position)
        let id = try await subscribe(to: filters.topicPrefixes, from: start, claim: claim, progress: progress)
        defer { thread.perform { [weak self] in self?.assumeIsolated { $0.unsubscribe(id) } } }
        return try await body(
            messages(of: id) { message in
                // Of a message that cannot be read the subject is not known: whoever has its partition gives it up.
                claim.covers(message)
                    && (message.unreadableHeader != nil || filters.contains { $0.matches(message) })
            })
    }

    private nonisolated func messages(
        of id: Int, where isWanted: @escaping @Sendable (Envelope) -> Bool
    ) -> MessageSequence {
        let reader = MessageReader(bus: self, id: id, skipped: skipped, isWanted: isWanted)
        return MessageSequence(pull: reader.next)
    }

    private func subscribe(
        to prefixes: [String], from start: StartPosition, until end: Position? = nil, claim: ConsumerClaim? = nil,
        progress: ConsumerProgress? = nil,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)? = nil
    ) async throws -> Int {
        try Task.checkCancellation()
        let start = try await trackerStart(start)
        lastID += 1
        let inbox = Inbox.prefix(of: client) + String(lastID)
        return try await suspend { continuation in
            guard state != .closed else {
                return continuation.resume(throwing: BusError(.closed, "the connection to \(address) was closed"))
            }
            confirmations[inbox] = PendingSubscription(
                prefixes: prefixes, start: start, end: end, claim: claim, progress: progress, onNotice: onNotice,
                continuation: continuation)
            subscribe(prefixes, inbox: inbox)
        } onCancel: {
            $0.cancelConfirmation(inbox)
        }
    }

    /// Where a tracker begins; a time is looked up first: what is journalled meanwhile comes behind it.
    private func trackerStart(_ start: StartPosition) async throws -> FeedTracker.Start {
        switch start {
        case .now: return .now
        case .beginning: return .after(Position(epoch: 0, offset: 0))
        case .retained: return .documents
        case .after(let position): return .after(position)
        case .since(let date):
            // Down: the broker's times are, and a later one would leave out what was journalled in the same millisecond.
            let milliseconds = UInt64(clamping: date.milliseconds(.down))
            guard case .located(let epoch, let offset) = try await ask(.locate(milliseconds)) else {
                throw BusError(.refused, "the broker answered a time with something else")
            }
            return .after(Position(epoch: epoch, offset: offset))
        }
    }

    /// The inbox last: its answer says that the others are live.
    func subscribe(_ prefixes: [String], inbox: String) {
        setOptions(prefixes.map(SocketOption.subscribe) + [.subscribe(inbox)])
    }

    /// Asks again for confirmations that have not come: an answer can be dropped like any message of the feed.
    func renewConfirmations() {
        for inbox in confirmations.keys {
            setOptions([.unsubscribe(inbox), .subscribe(inbox)])
        }
    }

    private func cancelConfirmation(_ inbox: String) {
        guard let subscription = confirmations.removeValue(forKey: inbox) else { return }
        setOptions(subscription.prefixes.map(SocketOption.unsubscribe) + [.unsubscribe(inbox)])
        subscription.continuation.resume(throwing: CancellationError())
    }

    private func unsubscribe(_ id: Int) {
        guard let subscriber = subscribers.removeValue(forKey: id) else { return }
        setOptions(subscriber.prefixes.map(SocketOption.unsubscribe))
    }

    private func setOptions(_ options: [SocketOption]) {
        do {
            for option in options {
                try feed?.set(option)
            }
        } catch {
            logger.error("a subscription failed", metadata: ["error": "\(error)"])
        }
    }

    /// The next messages; none at the end.
    func next(_ id: Int) async throws -> [FeedTracker.Delivery] {
        defer { readPages() }
        if let messages = subscribers[id]?.takeBuffered(), !messages.isEmpty { return messages }
        lastID += 1
        let wait = lastID
        return try await suspend {
            take(from: id, wait: wait, $0)
        } onCancel: {
            $0.subscribers[id]?.cancel(wait: wait)
        }
    }

    private func take(
        from id: Int, wait: Int, _ reader: CheckedContinuation<[FeedTracker.Delivery], any Error>
    ) {
        guard let subscriber = subscribers[id] else {
            return reader.resume(throwing: BusError(.closed, "the subscription has ended"))
        }
        subscriber.next(reader, wait: wait)
    }

    func takeMessages() {
        quietFeed.losses.hear()
        quietFeed.confirmations.hear()
        do {
            var count = 0
            while count < Self.turnCount, let frames = try feed?.receive(), let topic = frames.first {
                if topic.starts(with: Inbox.mark.utf8) {
                    count += 1
                    try confirm(frames)
                } else {
                    let messages = try FeedPacket.messages(frames)
                    count += messages.count
                    deliver(messages)
                }
            }
        } catch {
            logger.error("the feed cannot be read", metadata: ["error": "\(error)"])
        }
        readPages()
    }

    /// - Parameter messages: of one topic and epoch.
    private func deliver(_ messages: [FeedMessage]) {
        // Only what the broker says of itself tells of another journal: a message of the one before may still be under way
        // when that has been said. One of a journal that is not known yet is read from it later.
        guard let last = messages.last, last.epoch == epoch else { return }
        see(last.offset, of: last.epoch)
        for subscriber in subscribers.values {
            subscriber.receive(live: messages)
        }
    }

    private func confirm(_ frames: [[UInt8]]) throws {
        let (inbox, answerEpoch, head) = try Inbox.readAnswer(frames)
        if epoch == 0 { follow(epoch: answerEpoch) }
        // The common inbox is answered after every connection of the feed: this may be a newer broker.
        let isConnected = inbox == Inbox.prefix(of: client)
        if isConnected { takesLongGreetings = true }
        guard answerEpoch == epoch else {
            // The feed and the ingress are two ways: this may be of the journal before, or of the one that a hello is about
            // to tell of. Only the ingress decides; an inbox is asked again every second.
            return isConnected ? greetAgain() : greet()
        }
        guard let subscription = confirmations.removeValue(forKey: inbox) else {
            // Something may have been published in between.
            if isConnected { reconnected(head: head) }
            return
        }
        setOptions([.unsubscribe(inbox)])
        if let reason = mistake(in: subscription, head: head) {
            setOptions(subscription.prefixes.map(SocketOption.unsubscribe))
            return subscription.continuation.resume(throwing: BusError(.epoch, reason))
        }
        lastID += 1
        subscribers[lastID] = Subscriber(
            tracker: FeedTracker(
                prefixes: subscription.prefixes, start: subscription.start, head: head,
                isWatched: subscription.onNotice != nil),
            prefixes: subscription.prefixes, claim: subscription.claim, progress: subscription.progress, head: head,
            end: subscription.end?.offset,
            onNotice: subscription.onNotice)
        subscription.continuation.resume(returning: lastID)
    }

    /// Why nobody can begin or end there.
    private func mistake(in subscription: PendingSubscription, head: UInt64) -> String? {
        let start: Position? = if case .after(let position) = subscription.start { position } else { nil }
        for position in [start, subscription.end].compactMap(\.self) where ![0, epoch].contains(position.epoch) {
            return "the position \(position) belongs to a journal that is no longer there"
        }
        guard let position = start else { return nil }
        return position.offset > head ? "the position \(position) is behind the journal's end, \(head)" : nil
    }

    private func reconnected(head: UInt64) {
        resend()
        greetAgain()
        pollHeads(head: head, judgeNow: true)
    }

    /// Asks which topics have grown, for those subscribers that have not asked since the journal has.
    func pollHeads(head: UInt64, judgeNow: Bool) {
        let asking = subscribers.filter { $0.value.polledThrough < head }
        guard let after = asking.values.map(\.polledThrough).min() else { return }
        let prefixes = Set(asking.values.flatMap(\.prefixes)).sorted()
        let request = PageRequest(epoch: epoch, after: after, prefixes: prefixes)
        enqueue(.heads(request), reply: .heads(subscribers: Array(asking.keys), judgeNow: judgeNow))
    }

    /// - Parameter asking: who it was asked for: what it says of topics that others have subscribed to since is nothing.
    func receive(_ heads: Heads, for asking: [Int], judgeNow: Bool) {
        for subscriber in asking.compactMap({ subscribers[$0] }) {
            subscriber.polledThrough = max(subscriber.polledThrough, heads.through)
            subscriber.tracker.note(heads)
            if judgeNow { subscriber.judge() }
        }
    }

    /// Asks for the pages that subscribers need and have room for.
    func readPages() {
        for (id, subscriber) in subscribers {
            guard let phase = subscriber.nextRead else { continue }
            switch phase {
            case .live: continue
            case .journal(let after):
                let request = PageRequest(epoch: epoch, after: after, prefixes: subscriber.prefixes)
                enqueue(.read(request), reply: .page(subscriber: id))
            case .documents(let after):
                let request = PageRequest(epoch: epoch, after: after, prefixes: subscriber.prefixes)
                enqueue(.documents(request), reply: .page(subscriber: id))
            }
            subscriber.isReading = true
        }
    }

    func receive(_ reply: Reply, for id: Int) {
        guard let subscriber = subscribers[id] else { return }
        subscriber.isReading = false
        switch reply {
        case .page(let page) where page.epoch == epoch:
            for offset in page.damaged {
                logger.error("a message was skipped: the journal is damaged", metadata: ["offset": "\(offset)"])
            }
            see(page.through, of: page.epoch)
            subscriber.receive(page)
        case .refused(let error):
            // Of an older journal, or of one that cannot be read now.
            subscriber.isRefused = true
            logger.warning("a page was refused", metadata: ["reason": "\(error)"])
            if error.code == .epoch { greet() }
        default: break
        }
    }
}
