internal import EventBus
internal import Logging
internal import NATS
internal import NATSLayout
internal import Support
internal import Synchronization

/// Copies the streams anew from their leaders to all servers, after some servers have lost the end of the journal.
///
/// A server that was away keeps what the others have lost: it skips what the leader stores at the same sequences, reports
/// that it is current, and answers readers; or it never catches up. Only a new copy changes that. So each stream is given to
/// its leader alone, the others remove their copies, and then it is given to all of them again. With that the journal
/// begins a new epoch, because readers may have received messages of the other server.
///
/// The metadata of the journal's stream says that this is needed, or under way, so that another steward can complete it.
final class Recopier: Sendable {
    private static let interval = Duration.seconds(1)
    private static let poll = Duration.milliseconds(100)
    /// The time in which the servers move the consumers. If the streams get more servers at once, nats-server 2.15.1
    /// sometimes makes no consumer for more than a minute.
    private static let settling = Duration.seconds(3)
    /// The minimum time between two that ``request(after:)`` asks for: each one interrupts all clients, and might not help.
    private static let pause = Duration.seconds(60)

    /// What is known of the present epoch.
    private struct State {
        var epoch: UInt64?
        /// The end of the journal at the last check.
        var end: UInt64 = 0
        /// What readers have received up to this sequence comes from servers that have not been away since.
        var trusted: UInt64 = 0
    }

    private let jetStream: JetStream
    private let names: StreamNames
    private let logger: Logger
    private let state = Mutex(State())
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    init(_ jetStream: JetStream, _ names: StreamNames, _ logger: Logger) {
        self.jetStream = jetStream
        self.names = names
        self.logger = logger
    }

    /// Copies the streams whenever this is needed and all servers are there: one that is away would keep its copies.
    /// - Throws: ``EpochChanged`` after the journal has begun a new epoch.
    func run(_ notices: StewardNotices) async throws {
        var lagging = LaggingServers()
        while true {
            try await Task.sleep(for: Self.interval)
            let info = try await info(of: names.journal)
            for server in lagging.late(among: info.followers, at: .now) {
                try await notices.say(
                    .incompleteReplica,
                    "server \(server) has not come nearer to the leader of \(names.journal) for a minute. If its log says "
                        + "'will retry' again and again, stop it, empty its store_dir, and start it again: it then copies "
                        + "all from the others")
            }
            let areActive = info.followers.allSatisfy(\.isActive)
            let epoch = JournalEpochs(metadata: info.metadata)?.current
            let trusted = state.withLock { state in
                if state.epoch != epoch { state = State(epoch: epoch) }
                // A server that is away now may have answered a reader after the check before.
                if !areActive { state.trusted = state.end }
                state.end = UInt64(info.lastSequence)
                return state.trusted
            }
            guard let recopying = Recopying(metadata: info.metadata), areActive || recopying.replicas != nil else {
                continue
            }
            try await recopy(after: max(recopying.end, trusted), info, notices)
        }
    }

    /// Notes that servers were found to have other messages than the leader.
    /// - Parameter end: The last sequence up to which they have the same journal; nil if they all have it now.
    func request(after end: UInt64?) async throws {
        let isEarly = last.withLock { $0.map { $0.duration(to: .now) < Self.pause } ?? false }
        let info = try await info(of: names.journal)
        guard !isEarly, Recopying(metadata: info.metadata) == nil else { return }
        let recopying = Recopying(after: end ?? UInt64(info.lastSequence))
        try await update(info.settings { $0[JournalMetadata.recopyingKey] = recopying.text }, of: info.name)
    }

    /// - Parameters:
    ///   - end: The last sequence up to which everything counts that clients have recorded.
    ///   - info: The present settings of the journal's stream.
    /// - Throws: ``EpochChanged``. Returns if the servers refuse it, for example because one of them has just ended.
    private func recopy(after end: UInt64, _ info: StreamInfo, _ notices: StewardNotices) async throws {
        let replicas = Recopying(metadata: info.metadata)?.replicas ?? info.followers.count + 1
        let recopying = Recopying(after: end, replicas: replicas)
        do {
            try await update(
                info.settings(replicas: 1) { $0[JournalMetadata.recopyingKey] = recopying.text }, of: names.journal)
            let others = [names.documents, names.deadLetters]
            for stream in others { try await update(try await self.info(of: stream).settings(replicas: 1), of: stream) }
            for stream in names.all { try await waitUntilAlone(stream) }
            try await Task.sleep(for: Self.settling)
            for stream in others {
                try await update(try await self.info(of: stream).settings(replicas: replicas), of: stream)
            }
            let info = try await self.info(of: names.journal)
            guard let epochs = JournalEpochs(metadata: info.metadata) else { return }
            let next = epochs.beginning(JournalStreams.newEpoch(), after: end)
            try await update(
                info.settings(replicas: replicas) {
                    $0[JournalMetadata.recopyingKey] = nil
                    $0.merge(next.metadata) { $1 }
                }, of: names.journal)
        } catch let error as JetStreamError {
            return logger.warning("the servers cannot copy the streams anew now", metadata: ["error": "\(error)"])
        }
        last.withLock { $0 = .now }
        try await notices.say(
            .lostEnd,
            "servers may have other messages of \(names.journal) than its leader after sequence \(end): all servers copy its "
                + "streams from the leaders, and a new epoch begins")
        throw EpochChanged()
    }

    /// Waits until only the leader of a stream has it. Until then the stream works with all servers. If one of them does not
    /// catch up, nats-server 2.15.1 may need minutes.
    private func waitUntilAlone(_ stream: String) async throws {
        var wait = jetStream.connection.waits.operation()
        defer { wait.end() }
        while try await !info(of: stream).followers.isEmpty {
            wait.note("servers have not removed their copies of \(stream)")
            try await Task.sleep(for: Self.poll)
        }
    }

    private func info(of stream: String) async throws -> StreamInfo {
        try await jetStream.retrying { try await jetStream.stream(stream) }
    }

    private func update(_ settings: JSONValue, of stream: String) async throws {
        _ = try await jetStream.retrying { try await jetStream.updateStream(settings) }
    }
}
