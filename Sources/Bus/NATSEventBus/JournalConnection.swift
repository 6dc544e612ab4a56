internal import BusFormat
internal import EventBus
internal import Foundation
internal import Logging
internal import NATS
internal import NATSJournal
internal import NATSLayout
internal import Synchronization

/// The journal's stream as the server describes it.
struct JournalIdentity: Hashable, Sendable {
    let epochs: JournalEpochs
    /// The maximum size of a batch with its headers, in bytes.
    let maximumPayload: Int

    var epoch: UInt64 { epochs.current }

    /// The part of `maximumPayload` that is left for the headers of a batch and for the reason with which it gives up a
    /// message. So every message that the bus has accepted can be given up.
    private static let reserve = 12 * 1024

    /// The maximum size of the messages of a batch, in bytes.
    var maximumBatchSize: Int { min(Limits.batchSize, maximumPayload - Self.reserve) }
}

/// The journal of a namespace: the connection to its servers, and requests that wait while no server answers.
final class JournalConnection: Sendable {
    private struct State {
        /// Nil until the stream has been found.
        var identity: JournalIdentity?
        /// The error of all further calls; nil while the bus is open.
        var failure: BusError?
        /// The reason for which there is no identity, or no connection.
        var problem: BusError
        var waiters: [UInt64: CheckedContinuation<JournalIdentity, any Error>] = [:]
        var lastWaiter: UInt64 = 0
        /// True if the last answer lacked what this client has seen.
        var hasLostEnd = false
        /// The number of connections up to which the journal was confirmed: it has what this client has seen.
        var confirmedConnection = 0
        var seen = SeenJournal()
        var reported = ReportedDamage()

        /// - Parameter connection: The number of connections now.
        func identityNow(_ connection: Int) throws(BusError) -> JournalIdentity? {
            if let failure { throw failure }
            return confirmedConnection == connection ? identity : nil
        }
    }

    static let ended = BusError(.closed, "the bus was closed: its run() has ended")
    /// The maximum size of a batch: 8 MiB of messages, and a message that is given up.
    private static let largestPayload = 9 * 1024 * 1024
    /// The part of `max_payload` that a batch leaves for what servers add to it.
    private static let headroom = 4 * 1024

    let connection: NATSConnection
    let jetStream: JetStream
    let names: StreamNames
    private let address: NATSAddress
    private let logger: Logger
    private let state: Mutex<State>

    init(_ address: NATSAddress, options: NATSOptions, logger: Logger) {
        self.address = address
        self.logger = logger
        connection = NATSConnection(options)
        jetStream = JetStream(connection)
        names = StreamNames(address.namespace)
        state = Mutex(State(problem: BusError(.unavailable, "no NATS server answers at \(address)")))
    }

    func subject(_ subject: BusSubject) -> String { subject.text(in: names.namespace) }

    // MARK: Identity

    /// Checks each server that the client connects to, and finds the stream.
    /// - Throws: ``BusError``: `address` if the server or the stream cannot be used, `forbidden` if this user may not use
    ///   the stream, `denied` if the servers no longer accept the user.
    func run() async throws {
        do {
            try await withThrowingTaskGroup { group in
                group.addTask { try await self.follow() }
                group.addTask { try await self.connection.watchRefusals() }
                defer { group.cancelAll() }
                while try await group.next() != nil {}
            }
        } catch let error as BusError {
            close(error)
            throw error
        } catch let error as NATSError {
            close(BusError(error))
            throw BusError(error)
        }
    }

    private func follow() async throws {
        for await change in connection.changes() {
            switch change {
            case .connected(let server):
                try check(server)
                try await identify(server)
            case .disconnected(let reason):
                record(problem: "no NATS server answers at \(address): \(reason)")
            case .refused(let reason):
                record(BusError(NATSError.unauthenticated(at: connection.options.addresses, reason)))
            case .connecting, .closed: break
            }
        }
    }

    private func check(_ server: NATSServerInfo) throws {
        if let refusal = Self.refusal(of: server, at: address) { throw refusal }
        if server.version == nil {
            logger.warning("the version of the NATS server is not known; this user may not request $SYS.REQ.USER.INFO")
        }
    }

    /// The error for a server that cannot be used; nil for any other.
    static func refusal(of server: NATSServerInfo, at address: NATSAddress) -> BusError? {
        ServerRequirements.refusal(
            version: server.version, isNewEnough: server.isAtLeast(ServerRequirements.oldestVersion),
            maximumPayload: server.maximumPayload, at: "\(address)")
    }

    /// Asks for the stream until there is an answer or the connection is lost.
    private func identify(_ server: NATSServerInfo) async throws {
        while !Task.isCancelled {
            do {
                let count = connection.connectionCount
                try await readStream(limit: server.maximumPayload, requiringLast: true)
                confirm(count)
                return
            } catch let error as NATSError where [.disconnected, .closed].contains(error.code) {
                return
            } catch let error as NATSError where error.code == .denied {
                throw BusError(error)
            } catch let error as NATSError {
                record(problem: error.message)
            } catch let error as JetStreamError where error.code == .streamNotFound {
                record(
                    problem: "the stream '\(names.journal)' does not exist at \(address); start a broker with this "
                        + "address")
            } catch let error as JetStreamError {
                record(problem: error.message)
            }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Reads the state of the stream, and follows it if it was replaced.
    /// - Parameter requiringLast: True to ask for the last message that this client has received or published, too. It
    ///   is also asked for if an earlier answer lacked something.
    /// - Throws: ``NATSError`` `timeout` if it does not have what this client has seen: see ``recordLostEnd()``.
    @discardableResult
    private func readStream(limit: Int, requiringLast: Bool = false) async throws -> StreamInfo {
        let asked = state.withLock(\.seen)
        let stream = try await jetStream.stream(names.journal)
        let epochs = try JournalEpochs(checking: stream.metadata, of: names.journal, at: "\(address)")
        let payload = min(limit - Self.headroom, Self.largestPayload)
        let end = UInt64(clamping: stream.lastSequence)
        guard state.withLock({ $0.seen.isIncluded(in: epochs.current, upTo: end, asked: asked) }) else {
            throw recordLostEnd()
        }
        open(JournalIdentity(epochs: epochs, maximumPayload: payload))
        guard requiringLast || state.withLock(\.hasLostEnd) else { return stream }
        try await requireLast(of: asked, upTo: end)
        recordComplete()
        return stream
    }

    /// Asks the leader for the last message that this client had received or published.
    /// - Parameter end: The last sequence of the stream, asked for after that.
    /// - Throws: ``NATSError`` `timeout` if the stream has lost it: see ``recordLostEnd()``.
    private func requireLast(of asked: SeenJournal, upTo end: UInt64) async throws {
        guard let last = asked.last, epochNow == asked.epoch else { return }
        let stored = try await jetStream.message(of: names.journal, sequence: Int(clamping: last.sequence))
        // The epoch may have changed meanwhile.
        if last.isLost(stored?.identity, upTo: end), epochNow == asked.epoch { throw recordLostEnd() }
    }

    /// The journal lacks messages that this client has seen. The steward learns of it from the next heartbeat, and
    /// begins a new epoch. Until then, this client waits: what it would record belongs to another journal.
    ///
    /// A leader that was replaced while it was stopped may answer once more, without the newest messages.
    private func recordLostEnd() -> NATSError {
        let error = NATSError(
            .timeout,
            "the journal '\(names.journal)' at \(address) lacks messages that this process has seen; it waits for the "
                + "broker, which begins a new epoch within seconds")
        let isFirst = state.withLock { state in
            defer { state.hasLostEnd = true }
            return !state.hasLostEnd
        }
        if isFirst { logger.warning("\(error.message)") }
        return error
    }

    /// The journal has what this client has seen.
    private func recordComplete() {
        let wasLost = state.withLock { state in
            defer { state.hasLostEnd = false }
            return state.hasLostEnd
        }
        if wasLost { logger.info("the journal has all messages again that this process has seen") }
    }

    private func confirm(_ connection: Int) {
        let (waiters, identity) = state.withLock { state in
            state.confirmedConnection = max(state.confirmedConnection, connection)
            defer { state.waiters = [:] }
            return (state.waiters.values, state.identity)
        }
        guard let identity else { return }
        for waiter in waiters { waiter.resume(returning: identity) }
    }

    private func record(problem: String) {
        record(BusError(.unavailable, problem))
    }

    private func record(_ problem: BusError) {
        state.withLock { $0.problem = problem }
    }

    private func open(_ identity: JournalIdentity) {
        let isNew = state.withLock { state in
            state.identity = identity
            guard state.seen.follow(identity.epoch) else { return false }
            state.hasLostEnd = false
            return true
        }
        if isNew {
            logger.warning(
                "the journal has a new epoch", metadata: ["epoch": "\(String(identity.epoch, radix: 16))"])
        }
    }

    /// Ends all calls that wait, and all later ones.
    func close(_ error: BusError = JournalConnection.ended) {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.failure = state.failure ?? error
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(throwing: error) }
    }

    /// The error of calls after the end of `run()`: its reason, if the bus could not be used.
    var endError: BusError { state.withLock(\.failure) ?? Self.ended }

    /// The error of a call that fails; after the end of `run()`, its reason.
    func busError(_ error: NATSError) -> BusError { error.code == .closed ? endError : BusError(error) }

    /// The reason for which calls wait.
    var problem: String { waitError.message }

    /// The error of a call that no longer waits.
    var waitError: BusError { state.withLock(\.problem) }

    /// The reason for which calls wait now; nil while there is a connection, and the journal has what was seen.
    var waitReason: String? {
        if case .connected = connection.current,
            state.withLock({ $0.confirmedConnection }) == connection.connectionCount
        {
            return nil
        }
        return problem
    }

    /// True if the stream has been found.
    var isKnown: Bool { state.withLock { $0.identity != nil && $0.failure == nil } }

    /// The epoch in which this client is; nil until the stream has been found.
    var epochNow: UInt64? { state.withLock { $0.identity?.epoch } }

    /// Waits until the stream has been found, and has what this client has seen.
    /// - Throws: ``BusError`` `closed`, `address`, `forbidden` or `denied`; `CancellationError`.
    func identity() async throws -> JournalIdentity {
        if let identity = try state.withLock({ try $0.identityNow(connection.connectionCount) }) { return identity }
        var wait = connection.waits.operation()
        wait.recordFailure(problem)
        defer { wait.end() }
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = Result {
                    try state.withLock { state throws -> JournalIdentity? in
                        if let identity = try state.identityNow(connection.connectionCount) { return identity }
                        state.waiters[number] = continuation
                        return nil
                    }
                }
                switch result {
                case .success(let identity?): continuation.resume(returning: identity)
                case .failure(let error): continuation.resume(throwing: error)
                // The cancellation handler may have run before the waiter was there.
                case .success(nil): if Task.isCancelled { abandon(number) }
                }
            }
        } onCancel: {
            abandon(number)
        }
    }

    private func abandon(_ waiter: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume(throwing: CancellationError())
    }

    /// Handles the epoch that the steward knows, and reads the stream again if it is another one.
    func handle(epoch: UInt64) async {
        if state.withLock(\.identity)?.epoch != epoch { await refresh() }
    }

    /// Reads the stream again each second while the last answer lacked what this client has seen, until the task is
    /// cancelled: a leader that has just been elected may not have its newest messages yet, and no call may need them.
    func checkLosses() async {
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            if state.withLock(\.hasLostEnd) { await refresh() }
        }
    }

    /// Reads the stream again: it may have been replaced. Waits while it does not exist.
    func confirm() async throws {
        try await retrying { _ = try await readAgain() }
    }

    private func refresh() async {
        // The next attempt, or the next heartbeat, reads it again.
        _ = try? await readAgain()
    }

    @discardableResult
    private func readAgain() async throws -> StreamInfo {
        let known = state.withLock(\.identity)
        let payload = if let known { known.maximumPayload } else { try await identity().maximumPayload }
        return try await readStream(limit: payload + Self.headroom)
    }

    // MARK: Sequences

    /// Records the sequence of a batch that the journal of this epoch has.
    /// - Parameter time: The time at which the leader has stored it; nil if it is not known.
    func see(_ sequence: UInt64, at time: Int64? = nil, of epoch: UInt64) {
        state.withLock { $0.seen.see(sequence, at: time, of: epoch) }
    }

    /// Records a message that this client has published: a batch, or the record of progress.
    func see(published sequence: UInt64, id: String, of epoch: UInt64) {
        // The server's clock is not known. It stored the message before now, and every message after a loss later.
        let time = JetStreamTime.nanoseconds(of: Date())
        let message = SeenMessage(sequence: sequence, time: time, id: id)
        state.withLock { $0.seen.see(published: message, of: epoch) }
    }

    /// Records the sequence of a fence that this client has stored.
    func see(fence sequence: UInt64, of epoch: UInt64) {
        state.withLock { $0.seen.see(fence: sequence, of: epoch) }
    }

    /// The position of the last batch that this client has seen.
    var seenEnd: Position { state.withLock(\.seen.end) }

    func heartbeat(of producer: ProducerID, members: [Heartbeat.Member]) -> Heartbeat {
        state.withLock { state in
            Heartbeat(
                producer: producer, members: members, seen: state.seen.lastToRead, epoch: state.identity?.epoch ?? 0,
                last: state.seen.last, lacksLast: state.hasLostEnd)
        }
    }

    /// The sequence of the last batch, from the stream's leader; 0 if the journal is empty.
    func lastBatch() async throws -> UInt64 {
        try await seeLastBatch()
        return state.withLock(\.seen.batch)
    }

    /// See ``SeenJournal/lastToRead``.
    func lastToRead() async throws -> UInt64 {
        try await seeLastBatch()
        return state.withLock(\.seen.lastToRead)
    }

    /// The position of the last message.
    func end() async throws -> Position {
        try await seeLastBatch()
        return seenEnd
    }

    private func seeLastBatch() async throws {
        while true {
            let epoch = try await identity().epoch
            if let message = try await last(names.batches) {
                see(UInt64(message.sequence), at: message.time, of: epoch)
            }
            // In another epoch, nothing has been seen yet.
            if state.withLock(\.seen.epoch) == epoch { return }
        }
    }

    /// The last sequence of the stream, from its leader. It can be that of a record.
    func lastSequence() async throws -> UInt64 {
        try await retrying { UInt64(clamping: try await readAgain().lastSequence) }
    }

    // MARK: Requests

    /// Repeats an operation while it fails for a reason that passes: no connection, no leader, no reply.
    /// - Throws: ``BusError``; `CancellationError`.
    func retrying<Result>(_ operation: () async throws -> Result) async throws -> Result {
        var attempt = 0
        var wait = connection.waits.operation()
        defer { wait.end() }
        while true {
            _ = try await identity()
            do {
                return try await operation()
            } catch let error where error.passes {
                wait.recordFailure("\(error)")
                // The stream may have been replaced.
                if error is JetStreamError { await refresh() }
            } catch let error as NATSError {
                throw busError(error)
            } catch let error as JetStreamError {
                throw BusError(error)
            }
            try await pause(attempt)
            attempt += 1
        }
    }

    /// Logs that a server lacks messages. Other temporary errors are not logged.
    func warn(of error: any Error) {
        guard let error = error as? NATSError, error.code == .incomplete else { return }
        logger.warning("\(error)", metadata: ["code": "journal.incomplete"])
    }

    /// Logs a damaged record, once. The steward finds it, too, and reports it on the bus.
    func report(_ damaged: DamagedRecord) {
        guard state.withLock({ $0.reported.insert(damaged) }) else { return }
        logger.error("\(damaged)", metadata: ["code": "\(DamagedRecord.code)"])
    }

    /// Logs what has waited for the servers for too long, until the task is cancelled.
    func reportWaits() async {
        await connection.waits.watch(after: ListeningPeriod.patience) {
            logger.warning("\($0)", metadata: ["code": "journal.waiting"])
        }
    }

    /// Waits before another attempt: see ``NATSConnection/pause(_:)``.
    /// - Throws: ``BusError`` `closed`; `CancellationError`.
    func pause(_ attempt: Int) async throws {
        do {
            try await connection.pause(attempt)
        } catch let error as NATSError {
            throw busError(error)
        }
    }
}
