internal import Logging

/// Something that people should know of the broker, and not only its log.
package struct BrokerNotice: Hashable, Sendable {
    package enum Code: String, Sendable, CaseIterable {
        /// Messages have a wrong checksum: they are never delivered.
        case damaged = "journal.damaged"
        /// The journal ended before what had been read of it: what was behind is gone.
        case lostEnd = "journal.lost-end"
        /// Nothing can be journalled now.
        case unwritable = "journal.unwritable"
        /// It can again.
        case writable = "journal.writable"
        /// The journal is nearly full, and this consumer has not handled its oldest messages.
        case consumerBehind = "consumer.behind"
        /// Messages were removed that this consumer had not handled.
        case consumerCutOff = "consumer.cut-off"
    }

    package let code: Code
    /// One line: what is wrong, where, and what to do.
    package let message: String
}

/// What the broker has to say, in its log and as messages of its own.
struct BrokerNotices {
    private let logger: Logger
    /// What is to be published.
    private var pending: [BrokerNotice] = []
    /// The offsets of damaged messages that everybody knows of.
    private var reportedDamage: Set<UInt64> = []
    /// When the journal last could not be written; nil once it can.
    private var lastWriteFailure: ContinuousClock.Instant?
    private var garbageCount = 0
    private var lastGarbage = ""
    private var lastGarbageReport: ContinuousClock.Instant?

    /// Reports of damage that are remembered, so as not to be repeated.
    private static let damageCount = 10_000
    private static let mendedDuration: Duration = .seconds(3)
    private static let garbageInterval: Duration = .seconds(5)

    init(logger: Logger) {
        self.logger = logger
    }

    /// Whether the journal could not be written lately.
    var isUnwritable: Bool { lastWriteFailure != nil }

    mutating func say(_ code: BrokerNotice.Code, _ message: String) {
        let level: Logger.Level =
            switch code {
            case .damaged, .lostEnd, .unwritable: .error
            case .consumerBehind, .consumerCutOff: .warning
            case .writable: .notice
            }
        logger.log(level: level, "\(message)", metadata: ["code": "\(code.rawValue)"])
        pending.append(BrokerNotice(code: code, message: message))
    }

    /// What has been said since this was last called.
    mutating func take() -> [BrokerNotice] {
        defer { pending = [] }
        return pending
    }

    /// Tells when the journal stops, and begins again, to take what is published. A small batch may still fit on a disk that
    /// is full: it counts as mended only after a while without a failure.
    mutating func watchWriting(of journal: Journal, now: ContinuousClock.Instant) {
        if let failure = journal.takeWriteFailure() {
            if lastWriteFailure == nil { say(.unwritable, failure) }
            lastWriteFailure = now
        } else if let last = lastWriteFailure, now - last > Self.mendedDuration {
            lastWriteFailure = nil
            say(.writable, "the journal \(journal.path) can be written again")
        }
    }

    /// Tells of each damaged message once.
    mutating func report(_ damaged: [UInt64], in journal: Journal) {
        let new = damaged.filter { !reportedDamage.contains($0) }
        guard !new.isEmpty, reportedDamage.count < Self.damageCount else { return }
        reportedDamage.formUnion(new)
        let offsets = new.prefix(10).map(String.init).joined(separator: ", ") + (new.count > 10 ? ", …" : "")
        say(
            .damaged,
            "\(new.count) messages of the journal \(journal.path) are damaged and cannot be delivered: \(offsets)")
    }

    /// - Parameter reason: what was wrong with the last of it.
    mutating func noteGarbage(_ count: Int, _ reason: String) {
        guard count > 0 else { return }
        garbageCount += count
        lastGarbage = reason
    }

    /// A peer that speaks another protocol is named in the log now and then, however often it tries.
    mutating func reportGarbage(now: ContinuousClock.Instant) {
        guard garbageCount > 0, lastGarbageReport.map({ now - $0 >= Self.garbageInterval }) ?? true else { return }
        logger.warning(
            "what is not the protocol was refused or dropped",
            metadata: ["count": "\(garbageCount)", "last": "\(lastGarbage)"])
        garbageCount = 0
        lastGarbageReport = now
    }
}
