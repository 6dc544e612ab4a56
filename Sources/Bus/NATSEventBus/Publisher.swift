internal import BusFormat
internal import EventBus
internal import Logging
internal import NATS
internal import NATSLayout
internal import Synchronization

/// Publishes batches: performs the actions of ``Lanes``.
///
/// A message is sent by the task of its caller, or by the thread that receives the acknowledgement before it; so a
/// batch needs no task of its own. Only pauses, and the search for a message whose acknowledgement was lost, are the
/// work of ``run()``.
final class Publisher: Sendable {
    private struct State {
        var lanes: Lanes
        var lastCall: UInt64 = 0
        /// The callers that wait for the end of their calls.
        var callers: [Lanes.CallID: Caller] = [:]
        /// The batches of the calls that are not admitted yet.
        var outside: [Lanes.CallID: Publication] = [:]
        var failure: BusError?
    }

    private typealias Action = Lanes.Action
    private typealias Caller = CheckedContinuation<Lanes.Recorded, any Error>

    private static let timeout = Duration.seconds(2)
    /// The time without an acknowledgement after which a warning is logged.
    private static let patience = Duration.seconds(4)
    /// The precision of pauses.
    private static let step = Duration.milliseconds(20)

    private let journal: JournalConnection
    private let logger: Logger
    private let state: Mutex<State>
    /// Has an element when a message begins to pause.
    private let pauses: AsyncStream<Void>
    private let pausesWriter: AsyncStream<Void>.Continuation

    /// - Parameter configuration: Its limits of sizes are replaced by those of the server.
    init(
        _ journal: JournalConnection, producer: ProducerID, configuration: Lanes.Configuration = Lanes.Configuration(),
        logger: Logger
    ) {
        self.journal = journal
        self.logger = logger
        state = Mutex(State(lanes: Lanes(producer: producer, configuration: configuration)))
        (pauses, pausesWriter) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: Calls

    /// Publishes a batch and waits until the stream has stored it. Waits while no server answers.
    /// - Parameter pack: Checks and packs the batch.
    /// - Throws: The error of `pack`. ``BusError``: `fenced` if the expectation of the batch does not hold, `refused`
    ///   if the server does not accept it, `journal` if it has no room, `closed`. `CancellationError`: the batch may be
    ///   stored nevertheless.
    func publish(_ pack: () throws -> Publication) async throws -> Lanes.Recorded {
        let identity = try await journal.identity()
        try Task.checkCancellation()
        let publication = try pack()
        let id = state.withLock { state in
            state.lastCall += 1
            return Lanes.CallID(state.lastCall)
        }
        follow(identity)
        let recorded = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Caller) in
                update { state, now in
                    if let failure = state.failure {
                        continuation.resume(throwing: failure)
                        return []
                    }
                    state.callers[id] = continuation
                    guard state.lanes.admit(id, size: publication.body.count) else {
                        state.outside[id] = publication
                        return []
                    }
                    return state.lanes.add(id, publication, at: now)
                }
                // The cancellation handler may have run before the caller was there.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
        if case .progress = publication.subject { return recorded }
        journal.see(recorded.sequence, of: recorded.epoch)
        return recorded
    }

    /// The number of calls that wait.
    var callCount: Int { state.withLock(\.callers.count) }

    /// True if a message pauses before it is sent again.
    var isPausing: Bool { state.withLock { $0.lanes.nextTick != nil } }

    private func cancel(_ id: Lanes.CallID) {
        let caller = state.withLock { $0.callers.removeValue(forKey: id) }
        guard let caller else { return }
        update { state, now in
            state.outside[id] = nil
            return state.lanes.cancel(id, at: now).actions
        }
        caller.resume(throwing: CancellationError())
    }

    /// Ends all calls.
    func close() {
        let error = journal.endError
        update { state, _ in
            state.failure = error
            state.outside = [:]
            return state.lanes.close(error)
        }
    }

    // MARK: Actions

    /// Changes the lanes, then performs the actions without the lock.
    private func update(_ change: (inout State, ContinuousClock.Instant) -> [Action]) {
        let effects = state.withLock { state in
            let now = ContinuousClock.now
            var effects: [Effect] = []
            var actions = change(&state, now)
            var index = 0
            while index < actions.count {
                switch actions[index] {
                case .send(let sending): effects.append(.send(sending))
                case .finish(let id, let result):
                    guard let caller = state.callers.removeValue(forKey: id) else { break }
                    effects.append(.resume(caller, result))
                case .admit(let id):
                    // A batch that waits outside is added at once, so that no later call comes before it.
                    guard let publication = state.outside.removeValue(forKey: id) else { break }
                    actions += state.lanes.add(id, publication, at: now)
                }
                index += 1
            }
            return effects
        }
        for effect in effects {
            switch effect {
            case .send(let sending): send(sending)
            case .resume(let caller, let result): caller.resume(with: result)
            }
        }
    }

    /// What an update does without the lock.
    private enum Effect {
        case send(Lanes.Sending)
        case resume(Caller, Result<Lanes.Recorded, BusError>)
    }

    private func send(_ sending: Lanes.Sending) {
        let epoch = journal.seenEnd.epoch
        journal.jetStream.publish(
            journal.subject(sending.subject), headers: NATSHeaders(sending.message.headers.fields),
            body: sending.message.body, timeout: Self.timeout
        ) { result in
            self.handle(result, of: sending.number, in: epoch)
        }
    }

    /// Handles an answer on the thread that reads the socket, or, if sending has failed at once, an error on the thread
    /// of the caller.
    /// - Parameter epoch: The epoch of the journal when the message was sent.
    private func handle(_ result: Result<PublishAcknowledgement, any Error>, of number: UInt64, in epoch: UInt64) {
        var pause: Duration?
        switch result {
        case .success(let acknowledgement):
            let sequence = UInt64(max(0, acknowledgement.sequence))
            if let id = state.withLock({ $0.lanes.id(of: number) }) {
                journal.see(published: sequence, id: id, of: epoch)
            }
            var actions: [Action] = []
            update { state, now in
                actions = state.lanes.acknowledged(number, sequence: sequence, of: epoch, at: now)
                return actions
            }
            // A message of an epoch that has ended pauses before it is sent again.
            if actions.isEmpty { pausesWriter.yield() }
            return
        case .failure(let error as JetStreamError) where error.code == .expectationUnderWay:
            pause = .milliseconds(Int.random(in: 10...30))
        case .failure(let error) where error.passes: break
        case .failure(let error):
            let failure =
                switch error {
                case let error as NATSError: journal.busError(error)
                case let error as JetStreamError: BusError(error)
                default: BusError(.refused, "\(error)")
                }
            update { state, now in state.lanes.refused(number, failure, at: now) }
            pausesWriter.yield()
            return
        }
        update { state, now in
            state.lanes.retry(number, after: pause, at: now)
            return []
        }
        pausesWriter.yield()
    }

    // MARK: Time

    /// Sends messages again after their pauses, until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.hasten() }
            group.addTask { await self.warn() }
            for await _ in pauses {
                while let next = state.withLock({ $0.lanes.nextTick }) {
                    let pause = min(max(next - .now, .milliseconds(1)), Self.step)
                    guard (try? await Task.sleep(for: pause)) != nil else { return }
                    // A new connection may lead to a journal that has lost its end.
                    guard let identity = try? await journal.identity() else { return }
                    follow(identity)
                    for lookUp in tick() { group.addTask { await self.find(lookUp) } }
                }
            }
        }
    }

    /// Gives up what belongs to an earlier epoch, and takes over the limits of the server.
    private func follow(_ identity: JournalIdentity) {
        update { state, now in
            state.lanes.limit(
                maximumPayload: identity.maximumPayload, maximumBatchSize: identity.maximumBatchSize)
            return state.lanes.follow(identity.epoch, at: now)
        }
    }

    /// Sends what is due.
    /// - Returns: The look-ups that are due.
    private func tick() -> [Lanes.LookUp] {
        var lookUps: [Lanes.LookUp] = []
        update { state, now in
            let due = state.lanes.tick(at: now)
            lookUps = due.lookUps
            return due.actions
        }
        return lookUps
    }

    /// Ends the pauses when there is a new connection.
    private func hasten() async {
        for await change in journal.connection.changes() {
            guard case .connected = change else { continue }
            update { state, now in
                state.lanes.reconnected(at: now)
                return []
            }
            pausesWriter.yield()
        }
    }

    private func warn() async {
        var hasWarned = false
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            let oldest = state.withLock { $0.lanes.oldestSending }
            guard let oldest, ContinuousClock.now - oldest > Self.patience else {
                if hasWarned { logger.info("NATS acknowledges batches again") }
                hasWarned = false
                continue
            }
            if !hasWarned {
                logger.warning(
                    "NATS does not acknowledge batches; publishing waits", metadata: ["reason": "\(journal.problem)"])
            }
            hasWarned = true
        }
    }

    /// Searches for a message whose acknowledgement was lost longer ago than the stream's `duplicate_window`.
    private func find(_ lookUp: Lanes.LookUp) async {
        do {
            let epoch = try await journal.identity().epoch
            let found = try await journal.sequence(ofMessage: lookUp.id, after: lookUp.sequence, in: epoch)
            update { state, now in state.lanes.lookedUp(lookUp.number, found: found, of: epoch, at: now) }
        } catch {
            update { state, now in
                state.lanes.retry(lookUp.number, at: now)
                return []
            }
        }
        pausesWriter.yield()
    }
}

extension JournalConnection {
    /// Finds a message by its id. Reads the headers of all messages after a sequence up to the present end.
    /// - Returns: The sequence of the message; nil if there is none.
    /// - Throws: ``BusError`` with code `epoch` if the journal has another epoch meanwhile.
    func sequence(ofMessage id: String, after sequence: UInt64, in epoch: UInt64) async throws -> UInt64? {
        let end = try await lastSequence()
        let reader = BatchReader(
            self, patterns: names.journalSubjects, after: StreamPosition.end(of: sequence),
            until: StreamPosition.end(of: end),
            epoch: epoch, headersOnly: true)
        var found: UInt64?
        try await reader.read { message in
            guard message.message.header(BatchHeaders.Name.id.rawValue) == id else { return .goOn }
            found = UInt64(message.streamSequence)
            return .stop
        }
        return found
    }
}
