internal import EventBus
internal import NATS
internal import NATSJournal
internal import NATSLayout
internal import Support

/// The journal has another epoch now.
struct EpochChanged: Error {}

/// Detects that the journal has lost its end, and gives it another epoch.
struct JournalEnd: Sendable {
    private static let interval = Duration.seconds(1)
    /// The number of checks in a row that must find the loss: a leader that has just been replaced may answer once
    /// more.
    private static let checkCount = 3

    private let jetStream: JetStream
    private let names: StreamNames
    private let epochs: JournalEpochs
    private let notices: StewardNotices

    init(_ jetStream: JetStream, names: StreamNames, epochs: JournalEpochs, notices: StewardNotices) {
        self.jetStream = jetStream
        self.names = names
        self.epochs = epochs
        self.notices = notices
    }

    /// The result of one check.
    private struct Loss {
        let info: StreamInfo
        /// The epochs that the stream has now.
        let epochs: JournalEpochs
        let known: KnownEnd
        /// The time at which a lost message was stored; nil if it is not known.
        let time: Int64?
    }

    /// - Parameter known: The end of the journal in this epoch.
    /// - Throws: ``EpochChanged``.
    func watch(_ known: @Sendable () async -> KnownEnd) async throws {
        var count = 0
        var lowestEnd = Int.max
        // After a loss, a reader that does not know of it may have received a later message at a higher sequence.
        var lastFound: SeenMessage?
        while true {
            try await Task.sleep(for: Self.interval)
            let known = await known()
            guard let loss = try await check(known, lastFound) else {
                (count, lowestEnd, lastFound) = (0, .max, known.last)
                continue
            }
            count += 1
            lowestEnd = min(lowestEnd, loss.info.lastSequence)
            guard count >= Self.checkCount else { continue }
            try await begin(after: loss, lowestEnd: UInt64(clamping: lowestEnd))
        }
    }

    /// - Parameter lastFound: The last message that an earlier check has found.
    private func check(_ known: KnownEnd, _ lastFound: SeenMessage?) async throws -> Loss? {
        let info = try await jetStream.retrying { try await jetStream.stream(names.journal) }
        guard let now = JournalEpochs(metadata: info.metadata) else { return nil }
        // Another steward has begun another epoch.
        if now.current != epochs.current, now.knows(epochs.current) { throw EpochChanged() }
        let time = try await lostTime(
            among: known.missingMessages + [lastFound, known.last].compactMap(\.self),
            upTo: UInt64(clamping: info.lastSequence))
        guard
            time != nil || known.sequence > UInt64(info.lastSequence) || known.lostEpoch != nil
                || now.current != epochs.current
        else { return nil }
        return Loss(info: info, epochs: now, known: known, time: time)
    }

    /// The time of a message that the stream has lost; nil if it has lost none of these.
    /// - Parameter end: The last sequence of the stream.
    private func lostTime(among messages: [SeenMessage], upTo end: UInt64) async throws -> Int64? {
        for message in messages {
            let stored = try await jetStream.retrying {
                try await jetStream.message(of: names.journal, sequence: Int(clamping: message.sequence))
            }
            if message.isLost(stored?.identity, upTo: end) { return message.time }
        }
        return nil
    }

    private func begin(after loss: Loss, lowestEnd: UInt64) async throws {
        let end = try await fork(of: loss, lowestEnd)
        let lost = loss.known.lostEpoch ?? (loss.epochs.current == epochs.current ? nil : epochs.current)
        let next = loss.epochs.beginning(JournalStreams.newEpoch(), after: end, lost: lost)
        let changed = loss.info.settings(adding: next.metadata)
        _ = try await jetStream.retrying { try await jetStream.updateStream(changed) }
        try await notices.say(
            .lostEnd,
            "the journal \(names.journal) has lost its messages after sequence \(end), and a client has seen "
                + "\(max(loss.known.sequence, loss.known.last?.sequence ?? 0)): a new epoch begins after \(end)")
        throw EpochChanged()
    }

    /// The last sequence at which the stream is the one that clients have seen.
    ///
    /// Every message that was stored since the loss is younger than the lost ones. Without the time of a lost message,
    /// it is the end at the first check, which may be too high.
    private func fork(of loss: Loss, _ lowestEnd: UInt64) async throws -> UInt64 {
        guard let time = loss.time else { return lowestEnd }
        // Only the leader is asked: another server may still have the lost messages.
        let settings = ConsumerSettings(filters: [names.everything], start: .time(time + 1), headersOnly: true)
        let first = try await jetStream.retrying {
            try await jetStream.firstSequence(of: names.journal, settings, on: loss.info.leader)
        }
        // If the clock of the leader is slow, its new messages seem to be older than the lost ones.
        return min(first.map { $0 - 1 } ?? UInt64(loss.info.lastSequence), lowestEnd)
    }
}
