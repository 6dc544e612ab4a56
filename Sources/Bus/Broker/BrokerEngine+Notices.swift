internal import BusProtocol
internal import EventBus
internal import Logging

extension BrokerEngine {
    mutating func say(_ code: BrokerNotice.Code, _ message: String) {
        let level: Logger.Level =
            switch code {
            case .damaged, .lostEnd, .unwritable: .error
            case .consumerBehind, .consumerCutOff: .warning
            case .writable: .notice
            }
        logger.log(level: level, "\(message)", metadata: ["code": "\(code.rawValue)"])
        notices.append(BrokerNotice(code, message))
    }

    /// Tells when the journal stops, and begins again, to take what is published. A small batch may still fit on a disk that
    /// is full: it counts as mended only after a while without a failure.
    mutating func watchWriting(now: ContinuousClock.Instant) {
        if let failure = journal.takeWriteFailure() {
            if lastWriteFailure == nil { say(.unwritable, failure) }
            lastWriteFailure = now
        } else if let last = lastWriteFailure, now - last > Self.mendedDuration {
            lastWriteFailure = nil
            say(.writable, "the journal \(journal.path) can be written again")
        }
    }

    private static var mendedDuration: Duration { .seconds(3) }

    /// Publishes what there is to say as messages of the broker's own: on the feed alone when they cannot be journalled.
    mutating func publishNotices(now: ContinuousClock.Instant, _ outgoing: inout Outgoing) {
        defer { notices = [] }
        guard !notices.isEmpty, let describe = configuration.describe else { return }
        let messages = notices.compactMap { describe($0) }.compactMap { try? PublishedMessage($0) }
        var feed: [FeedMessage] = []
        do {
            try journal.transaction(at: clock.time(at: now)) { database in
                for message in messages {
                    try journal.append(message, to: &feed, database)
                }
            }
        } catch {
            feed = messages.map {
                FeedMessage(
                    topic: $0.topic, epoch: journal.epoch, offset: 0, previous: 0, header: $0.header, data: $0.data)
            }
        }
        outgoing.feed += feed
    }

    /// Tells of each damaged message once.
    mutating func report(_ damaged: [UInt64]) {
        let new = damaged.filter { !reportedDamage.contains($0) }
        guard !new.isEmpty, reportedDamage.count < Self.damageCount else { return }
        reportedDamage.formUnion(new)
        let offsets = new.prefix(10).map(String.init).joined(separator: ", ") + (new.count > 10 ? ", …" : "")
        say(
            .damaged,
            "\(new.count) messages of the journal \(journal.path) are damaged and cannot be delivered: \(offsets)")
    }

    /// Reports of damage that are remembered, so as not to be repeated.
    private static var damageCount: Int { 10_000 }
}
