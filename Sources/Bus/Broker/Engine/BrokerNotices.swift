internal import BusFormat
internal import EventBus
internal import Logging

/// The notices of the broker: it writes them to the log and collects them for publishing.
struct BrokerNotices {
    private let logger: Logger
    /// The notices that are to be published.
    private var pending: [BusNotice] = []
    /// The offsets of the damaged messages that were reported.
    private var reportedDamage: Set<UInt64> = []
    /// The time of the last failed write. Nil while the journal counts as writable.
    private var lastWriteFailure: ContinuousClock.Instant?
    private var garbageCount = 0
    private var lastGarbage = ""
    private var lastGarbageReport: ContinuousClock.Instant?

    /// The number of damaged messages after which no further ones are reported.
    private static let damageCount = 10_000
    /// The time without a failed write after which the journal counts as writable again.
    private static let mendedDuration: Duration = .seconds(3)
    /// The minimum time between two reports of invalid input.
    private static let garbageInterval: Duration = .seconds(5)

    init(logger: Logger) {
        self.logger = logger
    }

    /// True if a write to the journal has failed, and the journal is not yet reported as writable again.
    var isUnwritable: Bool { lastWriteFailure != nil }

    mutating func say(_ code: BusNotice.Code, _ message: String) { say(BusNotice(code, message)) }

    mutating func say(_ notice: BusNotice) {
        logger.log(notice)
        pending.append(notice)
    }

    /// The notices since the last call.
    mutating func drain() -> [BusNotice] {
        defer { pending = [] }
        return pending
    }

    /// Reports that the journal cannot be written, and that it can be written again. The second report comes when no
    /// write has failed for ``mendedDuration``.
    mutating func watchWriting(of journal: Journal, now: ContinuousClock.Instant) {
        if let failure = journal.removeWriteFailure() {
            if lastWriteFailure == nil { say(.unwritable, failure) }
            lastWriteFailure = now
        } else if let last = lastWriteFailure, now - last > Self.mendedDuration {
            lastWriteFailure = nil
            say(.writable, "the journal \(journal.path) can be written again")
        }
    }

    /// Reports damaged messages, each of them once.
    mutating func report(_ damaged: [UInt64], in journal: Journal) {
        let new = damaged.filter { !reportedDamage.contains($0) }
        guard !new.isEmpty, reportedDamage.count < Self.damageCount else { return }
        reportedDamage.formUnion(new)
        let offsets = new.prefix(10).map(String.init).joined(separator: ", ") + (new.count > 10 ? ", …" : "")
        say(
            .damaged,
            "the journal \(journal.path) has damaged messages, which cannot be delivered (\(new.count)): "
                + "offset \(offsets)"
        )
    }

    /// Counts invalid input.
    /// - Parameter reason: The error of the last invalid message.
    mutating func recordGarbage(_ count: Int, _ reason: String) {
        guard count > 0 else { return }
        garbageCount += count
        lastGarbage = reason
    }

    /// Logs the invalid input since the last report, at most once in ``garbageInterval``.
    mutating func reportGarbage(now: ContinuousClock.Instant) {
        guard garbageCount > 0, lastGarbageReport.map({ now - $0 >= Self.garbageInterval }) ?? true else { return }
        logger.warning(
            "input that does not follow the protocol was refused or dropped",
            metadata: ["count": "\(garbageCount)", "last": "\(lastGarbage)"])
        garbageCount = 0
        lastGarbageReport = now
    }
}
