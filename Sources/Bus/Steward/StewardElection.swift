internal import Foundation
internal import NATSLayout

/// The election of one steward: which of several processes leads, as a value without side effects.
///
/// The leader has written the last ``StewardRecord`` and announces itself once a second. A process that has received
/// no announcement for ``silence`` becomes a candidate: it writes a record with the next term, on the condition that
/// the last record is the one that it has read. So exactly one of several candidates is elected.
struct StewardElection: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Role: Hashable, Sendable {
        case follower
        case leader(StewardRecord)
    }

    enum Step: Hashable, Sendable {
        /// Nothing is to be done now.
        case wait
        /// Read the last record, and call ``found(_:at:)``.
        case check
        /// Publish the record as an announcement, read the last record, and call ``found(_:at:)``.
        case announce(StewardRecord)
    }

    /// The time without an announcement after which another process may lead.
    static let silence = Duration.seconds(5)
    private static let interval = Duration.seconds(1)
    /// The time between two calls of ``step(at:)`` after which this process may have missed announcements.
    private static let absence = Duration.seconds(1)

    let instance: UUID
    private(set) var role = Role.follower
    /// The term of the last record that was read; nil before the first one was read.
    private var lastTerm: UInt64?
    /// The last time at which another steward was, or may have been, there.
    private var lastSign: Instant
    private var lastStep: Instant
    private var lastAnnouncement: Instant?

    init(instance: UUID = UUID(), at now: Instant) {
        self.instance = instance
        lastSign = now
        lastStep = now
    }

    /// The record of this process while it leads.
    var term: StewardRecord? {
        if case .leader(let record) = role { record } else { nil }
    }

    /// Handles an announcement.
    mutating func handle(_ record: StewardRecord, at now: Instant) {
        guard record.instance != instance else { return }
        switch role {
        case .follower:
            // A steward that no longer leads and does not know it yet does not count.
            if record.term >= lastTerm ?? 0 { lastSign = now }
        case .leader(let own):
            if record.term > own.term { resign(at: now) }
        }
    }

    /// Records that announcements may have been missed, because there was no connection.
    mutating func recordAbsence(at now: Instant) {
        lastSign = now
    }

    mutating func step(at now: Instant) -> Step {
        if now - lastStep > Self.absence { recordAbsence(at: now) }
        lastStep = now
        switch role {
        case .follower: return lastTerm == nil || now - lastSign >= Self.silence ? .check : .wait
        case .leader(let record):
            if let lastAnnouncement, now - lastAnnouncement < Self.interval { return .wait }
            lastAnnouncement = now
            return .announce(record)
        }
    }

    /// Handles the last record.
    /// - Returns: The record to write on the condition that no other record has been written meanwhile; nil if none is
    ///   to be written.
    mutating func found(_ last: StewardRecord?, at now: Instant) -> StewardRecord? {
        let isKnown = lastTerm == last?.term ?? 0
        let isFirstLook = lastTerm == nil
        lastTerm = last?.term ?? 0
        switch role {
        case .leader(let own):
            if last != own { resign(at: now) }
            return nil
        case .follower:
            guard let last else { return next }
            if isFirstLook { return nil }
            guard isKnown else {
                // Another one has been elected meanwhile.
                lastSign = now
                return nil
            }
            // Announcements may have come while the record was being read.
            guard now - lastSign >= Self.silence else { return nil }
            return StewardRecord(instance: instance, term: last.term + 1)
        }
    }

    private var next: StewardRecord { StewardRecord(instance: instance, term: (lastTerm ?? 0) + 1) }

    /// Records that the record of this process was stored.
    mutating func won(_ record: StewardRecord, at now: Instant) {
        role = .leader(record)
        lastTerm = record.term
        lastAnnouncement = nil
    }

    /// Records that this process no longer leads.
    mutating func resign(at now: Instant) {
        role = .follower
        lastSign = now
    }
}
