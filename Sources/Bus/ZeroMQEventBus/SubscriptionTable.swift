internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import OrderedCollections
internal import Support

/// The subscriptions of a client: those that the broker has not confirmed, and the live ones.
///
/// A change of live subscriptions ends the waits of those readers that can get messages, the end or an error.
struct SubscriptionTable {
    /// The end of a reader's wait.
    struct EndedWait {
        let subscription: UInt64
        let result: Subscription.HandOver
    }

    /// The prefix of the topics of all inboxes of the client. The broker's answer to a subscription of an inbox shows
    /// that earlier subscriptions are live; that to the prefix itself, that the feed is connected.
    let inboxPrefix: String
    private var plans: OrderedDictionary<UInt64, Subscription.Plan> = [:]
    private var live: [Subscription] = []

    /// - Parameter client: The identity in the names of the client's inboxes on the feed.
    init(client: ProducerID) {
        inboxPrefix = Inbox.prefix(of: client)
    }

    /// True if a subscription is not confirmed.
    var hasUnconfirmed: Bool { !plans.isEmpty }

    /// The prefixes that a new connection of the feed subscribes to first: those of the live subscriptions and of the
    /// inboxes.
    var feedPrefixes: [String] { live.flatMap(\.prefixes) + [inboxPrefix] }

    /// The prefixes of the subscriptions that are not confirmed, each with its inbox.
    var unconfirmedPrefixes: [String] { plans.flatMap { prefixes(of: $1, id: $0) } }

    /// The inboxes of the subscriptions that are not confirmed.
    var unconfirmedInboxes: [String] { plans.keys.map { inbox(of: $0) } }

    /// The inbox is the last prefix: its answer shows that the other prefixes are live.
    private func prefixes(of plan: Subscription.Plan, id: UInt64) -> [String] {
        plan.prefixes + [inbox(of: id)]
    }

    private func inbox(of id: UInt64) -> String { inboxPrefix + String(id) }

    func isLive(_ id: UInt64) -> Bool { index(of: id) != nil }

    private func index(of id: UInt64) -> Int? { live.firstIndex { $0.id == id } }

    // MARK: Beginning and end

    /// Adds a subscription that the broker has not confirmed.
    /// - Returns: The prefixes to subscribe to.
    mutating func add(_ plan: Subscription.Plan, id: UInt64) -> [String] {
        plans[id] = plan
        return prefixes(of: plan, id: id)
    }

    /// Removes the plan of the subscription with this inbox; nil if there is none.
    mutating func removePlan(inbox: String) -> (id: UInt64, plan: Subscription.Plan)? {
        guard let id = inbox.removing(prefix: inboxPrefix).flatMap({ UInt64($0) }) else { return nil }
        return plans.removeValue(forKey: id).map { (id, $0) }
    }

    /// Adds a subscription that the broker has confirmed.
    mutating func add(live subscription: Subscription) {
        live.append(subscription)
    }

    /// Removes a subscription, whether it is live or not.
    /// - Returns: The prefixes to unsubscribe from.
    mutating func remove(_ id: UInt64) -> [String] {
        if let plan = plans.removeValue(forKey: id) { return prefixes(of: plan, id: id) }
        return index(of: id).map { live.remove(at: $0).prefixes } ?? []
    }

    /// Removes all subscriptions.
    mutating func removeAll() -> (unconfirmed: [UInt64], live: [UInt64]) {
        defer { (plans, live) = ([:], []) }
        return (Array(plans.keys), live.map(\.id))
    }

    // MARK: Changes

    /// Changes all live subscriptions.
    /// - Parameter ended: Gets the ends of waits.
    mutating func changeAll(
        into ended: inout [EndedWait], _ change: (inout Subscription) -> Void
    ) {
        for index in live.indices { self.change(at: index, into: &ended, change) }
    }

    /// Changes the live subscription with this id, if there is one.
    /// - Parameter ended: Gets the end of a wait.
    mutating func change(
        _ id: UInt64, into ended: inout [EndedWait], _ change: (inout Subscription) -> Void
    ) {
        if let index = index(of: id) { self.change(at: index, into: &ended, change) }
    }

    private mutating func change(
        at index: Int, into ended: inout [EndedWait], _ change: (inout Subscription) -> Void
    ) {
        change(&live[index])
        guard let result = live[index].handOver() else { return }
        ended.append(EndedWait(subscription: live[index].id, result: result))
    }

    /// Dequeues the next buffered messages of a subscription.
    mutating func dequeue(from id: UInt64) -> [FeedTracker.Delivery] {
        index(of: id).map { live[$0].dequeueBuffered() } ?? []
    }

    /// Begins a wait of a subscription's reader.
    /// - Parameter number: Unique among the waits of the subscription.
    /// - Returns: The end of the wait; nil if the reader must wait.
    mutating func wait(for id: UInt64, number: UInt64) -> Subscription.HandOver? {
        guard let index = index(of: id) else {
            return .failure(BusError(.closed, "the subscription has ended"))
        }
        live[index].beginWaiting(number)
        return live[index].handOver()
    }

    /// Ends a wait of a subscription's reader.
    /// - Returns: True if this wait was still the current one.
    mutating func stopWaiting(for id: UInt64, number: UInt64) -> Bool {
        index(of: id).map { live[$0].stopWaiting(number) } ?? false
    }

    /// Records the request that reads the next page of a subscription.
    mutating func recordRead(_ request: UInt64, by id: UInt64) {
        if let index = index(of: id) { live[index].recordRead(request) }
    }

    // MARK: Requests

    /// A request for one subscription.
    typealias Wanted = (subscription: UInt64, request: Request)

    /// The requests for the pages that subscriptions need and have room for.
    /// - Parameter epoch: The epoch of the journal.
    func wantedPages(in epoch: UInt64) -> [Wanted] {
        var wanted: [Wanted] = []
        // Called for each input: access by index copies no subscription.
        for index in live.indices {
            func page(after offset: UInt64) -> PageRequest {
                PageRequest(epoch: epoch, after: offset, prefixes: live[index].prefixes)
            }
            switch live[index].nextRead {
            case .live, nil: continue
            case .journal(let after): wanted.append((live[index].id, .read(page(after: after))))
            case .documents(let after): wanted.append((live[index].id, .documents(page(after: after))))
            }
        }
        return wanted
    }

    /// The request for the last offsets of topics, for the subscriptions that have not requested them since the journal
    /// has grown; nil if there are none.
    func wantedHeads(in epoch: UInt64, through head: UInt64) -> (subscriptions: [UInt64], request: Request)? {
        let asking = live.filter { $0.polledThrough < head }
        guard let after = asking.map(\.polledThrough).min() else { return nil }
        let prefixes = Set(asking.flatMap(\.prefixes)).sorted()
        return (asking.map(\.id), .heads(PageRequest(epoch: epoch, after: after, prefixes: prefixes)))
    }

    /// The renewals of the claims: a renewal tells the broker that the member is alive, and asks if the claim is still
    /// valid.
    mutating func renewClaims(of producer: ProducerID) -> [Wanted] {
        live.indices.compactMap { index in
            guard let claim = live[index].renew() else { return nil }
            let renewal = ClaimRequest(
                producer: producer, member: claim.member, consumer: claim.consumer, purpose: .renewal)
            return (live[index].id, .claim(renewal))
        }
    }

    /// The progress of members beyond messages that are not for them.
    /// - Parameter settled: Returns the offset up to which the reader of a subscription has handled everything, if
    ///   everything up to the second argument has been delivered to it.
    mutating func progress(
        in epoch: UInt64, settled: (_ subscription: UInt64, _ delivered: UInt64) -> UInt64
    ) -> [CheckpointFrame] {
        live.indices.compactMap { index in
            let id = live[index].id
            return live[index].progress(in: epoch) { settled(id, $0) }
        }
    }
}
