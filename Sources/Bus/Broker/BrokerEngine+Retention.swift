internal import BusProtocol
internal import EventBus
internal import Logging

extension BrokerEngine {
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
}
