package import Contracts
package import EventBus
package import Logging
internal import ServiceLifecycle
internal import Support

/// The loop of a durable consumer. It reads the messages that a claim covers, passes them to a handler unless they are
/// unreadable or for another consumer, and publishes the results in one batch with the consumer's progress.
///
/// Messages of one partition are handled in order. If the bus refuses the results of a message, the message is moved to
/// the dead letters and the consumer continues.
package struct ConsumerLoop: Sendable {
    /// Handles a message. It does not run on the bus's executor.
    ///
    /// A `CancellationError` while the service stops, or in a cancelled task, leaves the message unfinished. Any other
    /// error ends the loop.
    package typealias Work = @concurrent @Sendable (Envelope) async throws -> Handled

    package typealias WhenClaimed = @Sendable (_ claim: ConsumerClaim, _ new: Set<Partition>) async throws -> Void

    fileprivate let consumer: String
    fileprivate let filters: [MessageFilter]
    fileprivate let bus: EventBus
    fileprivate let logger: Logger
    fileprivate let metrics: ConsumerMetrics
    fileprivate let clock: any Clock<Duration>
    fileprivate let timers: OpenTimers?
    fileprivate let whenLive: @Sendable () -> Void

    /// - Parameters:
    ///   - metrics: the counts of the process; the loop updates them.
    ///   - clock: measures the pauses between attempts to reach the bus.
    ///   - timers: the timers to fire in shared mode. `whenClaimed` opens those of a claim.
    ///   - whenLive: called each time a subscription becomes live.
    package init(
        _ consumer: String, _ filters: [MessageFilter], bus: EventBus, logger: Logger,
        metrics: ConsumerMetrics = ConsumerMetrics(), clock: any Clock<Duration> = ContinuousClock(),
        timers: OpenTimers? = nil, whenLive: @escaping @Sendable () -> Void = {}
    ) {
        self.consumer = consumer
        self.filters = filters
        self.bus = bus
        self.logger = logger
        self.metrics = metrics
        self.clock = clock
        self.timers = timers
        self.whenLive = whenLive
    }

    /// Handles the messages of a claim, at most `limit` partitions at a time, until the service is asked to stop.
    /// - Throws: ``BusError``, for example `fenced` if another process has taken over the consumer, and `epoch` if the
    ///   journal was replaced; and the errors of `work`.
    package func run(under claim: ConsumerClaim, partitionsAtOnce limit: Int, _ work: @escaping Work) async throws {
        try await run(ConsumerRun(self, member: claim.member, mode: .concurrent(limit), work: work), under: claim)
    }

    /// Shares the consumer's partitions with the other members of the same name, until the service is asked to stop.
    /// Handles the messages of the partitions that belong to this member, at most `limit` partitions at a time.
    /// - Parameter whenClaimed: see ``runShared(_:whenClaimed:)``.
    /// - Throws: ``BusError``, and the errors of `work`.
    package func runShared(
        partitionsAtOnce limit: Int, whenClaimed: @escaping WhenClaimed = { _, _ in }, _ work: @escaping Work
    ) async throws {
        try await bus.engine.withMember(of: consumer, .shared) { member in
            try await run(
                ConsumerRun(self, member: member, mode: .concurrent(limit), work: work, whenClaimed: whenClaimed),
                under: nil)
        }
    }

    /// Shares the consumer's partitions with the other members of the same name, until the service is asked to stop.
    /// Handles their messages with a handler that only computes, on the bus's executor.
    /// - Parameter whenClaimed: called after each claim, before the messages of the claim are handled, with the claim
    ///   and the partitions that were lost since the claim before, or have to be read anew. It may
    ///   read the documents of the claimed partitions, because no other member changes them any more. The errors
    ///   `fenced`, `epoch` and `unrecorded` lead to another claim.
    /// - Throws: ``BusError``, and other errors of `whenClaimed`.
    package func runShared(
        _ handler: some ComputingHandler,
        whenClaimed: @escaping WhenClaimed = { _, _ in }
    ) async throws {
        try await bus.engine.withMember(of: consumer, .shared) { member in
            try await run(
                ConsumerRun(self, member: member, mode: .pipelined, handler: handler, whenClaimed: whenClaimed),
                under: nil)
        }
    }

    private func run(_ run: ConsumerRun, under claim: ConsumerClaim?) async throws {
        try await withTaskExecutorPreference(bus.taskExecutor) { try await run.run(under: claim) }
    }

    /// The name of the process: the part of its source before the '/'.
    private var service: Substring { bus.source.cut(at: "/")?.before ?? bus.source[...] }

    /// The results of a message that is not passed to a handler. Nil if the message is to be passed to a handler.
    fileprivate func plainResults(of message: Envelope) -> Handled? {
        if let rejection = message.rejection {
            logger.error("gave up the message: \(rejection.reason)", metadata: ["type": "\(message.type)"])
            let error = ApplicationError(code: rejection.code, message: rejection.reason)
            return Handled(answers(error, to: message), rejection: rejection)
        }
        guard message.concerns(consumer) else {
            var passed = Handled()
            passed.isPassed = true
            return passed
        }
        return nil
    }

    /// The results to publish in place of results that the bus refused. Results without a dead letter are replaced with
    /// a dead letter and an error. If the bus refuses these as well, the error is left out. If the bus refuses them
    /// with the code `deadLetter`, the dead letter is left out instead.
    /// - Returns: nil if nothing more can be left out.
    fileprivate func replacement(of outcome: ConsumerQueue.Outcome, _ error: BusError) -> Handled? {
        let results = outcome.results
        var next: Handled
        switch results.retreat {
        case .all: return nil
        case _ where error.code == .deadLetter && results.rejection != nil:
            next = Handled(results.messages)
            next.retreat = .deadLetter
        case .deadLetter:
            next = Handled()
            next.retreat = .all
        case .none where results.rejection == nil:
            next = givenUp(
                outcome.message, as: "refused",
                because: "published results for \(outcome.message.type) that the bus refused (\(error.message))")
            next.messages = results.whenGivenUp + next.messages
            next.retreat = .results
        case .none, .results:
            next = Handled(rejection: results.rejection)
            next.retreat = .error
        case .error: return nil
        }
        return next
    }

    /// The results of a message whose data does not match its type: a dead letter and an error.
    package func malformed(_ message: Envelope, _ reason: String) -> Handled {
        logger.error("gave up the message: \(reason)", metadata: ["type": "\(message.type)", "id": "\(message.id)"])
        let error = ApplicationError(code: "message.malformed", message: reason)
        return Handled(
            answers(error, to: message), rejection: Rejection(code: error.code, reason: reason, attempts: 1))
    }

    /// The results of a message that is given up: a dead letter, and an error that reports it.
    /// - Parameters:
    ///   - name: the second part of the error's code, after the name of the service.
    ///   - problem: the predicate of the error's sentence, such as "could not handle command.X". The name of the
    ///     service is put before it as the subject.
    package func givenUp(
        _ message: Envelope, as name: String, because problem: String, attempts: Int = 1
    ) -> Handled {
        let text = "\(service) \(problem)"
        let error = ApplicationError(
            code: "\(service).\(name)", message: text, recovery: "see its log for message \(message.id)")
        return Handled(
            answers(error, to: message),
            rejection: Rejection(code: error.code, reason: "\(text); see its log", attempts: attempts))
    }

    /// The error as a message, caused by `message`. Empty if `message` is an error itself, or if `error` cannot be
    /// encoded.
    package func answers(_ error: ApplicationError, to message: Envelope) -> [Envelope] {
        guard message.type.kind != .error, let envelope = try? bus.envelope(error, causedBy: message) else { return [] }
        return [envelope]
    }

    /// Publishes an error about the messages that retention removed before the consumer had handled them. The batch
    /// contains a checkpoint, so that the next claim does not name these messages.
    package func tellCutOffs(of claim: ConsumerClaim) async throws {
        guard !claim.cutOffs.isEmpty, !claim.offsets.isEmpty else { return }
        var messages: [Envelope] = []
        if let error = claim.cutOffError(of: filters) {
            logger.error("\(error.message)")
            messages.append(try Envelope(error, source: bus.source))
        }
        try await bus.publish(Batch(messages, checkpoint: Checkpoint(claim: claim, upTo: claim.position)))
    }
}

/// One run of a ``ConsumerLoop``. It performs the steps of its ``ConsumerQueue``.
///
/// If the bus has an executor of its own, the run uses it for everything except ``ConsumerLoop/Work``.
private actor ConsumerRun {
    /// An actor whose executor the run uses if the bus has none.
    private actor Home {}

    private enum Stage {
        case reading
        /// The reader has ended. The run ends when the remaining handlers have ended and their results are published.
        case draining
        /// No more jobs are performed.
        case over
    }

    private enum Job {
        case work(Envelope, ConsumerQueue.Permit)
        case restore([DocumentName], Envelope, ConsumerQueue.Permit)
        case publish(Batch, ConsumerQueue.Permit)
        case fire(OpenTimers.DueTimer, ConsumerQueue.Permit)
    }

    /// The executor of the bus, or else the executor of ``home``. The reference is unowned: the bus in ``loop``, or
    /// ``home``, keeps the executor alive as long as the run.
    nonisolated let unownedExecutor: UnownedSerialExecutor
    private let home: Home
    private let loop: ConsumerLoop
    private let member: ConsumerMember
    private let work: ConsumerLoop.Work?
    private var handler: (any ComputingHandler)?
    private let whenClaimed: ConsumerLoop.WhenClaimed
    private var queue: ConsumerQueue
    /// The last claim that ``whenClaimed`` was called with, and the partitions for which nothing is left to be read.
    private var prepared: (claim: ConsumerClaim, partitions: Set<Partition>)
    private let progress = ConsumerProgress()
    private let jobs: AsyncStream<Job>
    private let jobInput: AsyncStream<Job>.Continuation
    /// Resumed when the reader may receive more messages. Nil unless the reader waits.
    private var room: CheckedContinuation<Void, Never>?
    /// Signalled when the reader must stop: the claim has to be renewed, or the run has failed.
    private var claimEnd = Latch()
    /// True if the claim is to be renewed: the reader receives no further message.
    private var hasClaimEnded = false
    private var stage = Stage.reading
    /// The first error. Nil if there is none.
    private var failure: (any Error)?
    private var hasWarned = false

    init(
        _ loop: ConsumerLoop, member: ConsumerMember, mode: ConsumerQueue.Mode,
        handler: (any ComputingHandler)? = nil, work: ConsumerLoop.Work? = nil,
        whenClaimed: @escaping ConsumerLoop.WhenClaimed = { _, _ in }
    ) {
        let home = Home()
        self.home = home
        unownedExecutor = loop.bus.taskExecutor?.asUnownedSerialExecutor() ?? home.unownedExecutor
        self.loop = loop
        self.member = member
        self.handler = handler
        self.work = work
        self.whenClaimed = whenClaimed
        let none = ConsumerClaim(consumer: loop.consumer, member: member, ownerGeneration: 0, epoch: 0, offsets: [:])
        queue = ConsumerQueue(mode, claim: none)
        prepared = (none, [])
        (jobs, jobInput) = AsyncStream.makeStream()
    }

    func run(under claim: ConsumerClaim?) async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.read(under: claim) }
            if let timers = loop.timers { group.addTask { await self.watch(timers) } }
            for await job in jobs {
                switch job {
                case .work(let message, let permit):
                    // A slow handler would block the bus's executor, so it runs on the global executor.
                    group.addTask(executorPreference: globalConcurrentExecutor) { await self.handle(message, permit) }
                case .restore(let documents, let message, let permit):
                    group.addTask { await self.restore(documents, for: message, permit: permit) }
                case .publish(let batch, let permit):
                    group.addTask { await self.publish(batch, permit) }
                case .fire(let timer, let permit):
                    group.addTask { await self.fire(timer, permit) }
                }
            }
            group.cancelAll()
            stage = .over
            makeRoom()
        }
        if let failure { throw failure }
        try Task.checkCancellation()
    }

    // MARK: Reading

    private func read(under claim: ConsumerClaim?) async {
        do {
            try await cancelWhenGracefulShutdown {
                if let claim { try await self.readAlone(under: claim) } else { try await self.readShare() }
            }
        } catch is CancellationError {
            // The service stops, or another part of the run has failed.
        } catch {
            fail(error)
        }
        if stage == .reading { stage = .draining }
        queue.stop()
        advance()
    }

    private func readAlone(under claim: ConsumerClaim) async throws {
        begin(claim)
        try await receiveMessagesUntilClaimEnds(under: claim)
        try Task.checkCancellation()
        guard failure == nil else { return }
        // If another process has taken over the consumer, this call throws `fenced`.
        try await loop.bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, upTo: claim.position)))
        throw BusError(.epoch, "the claim of '\(loop.consumer)' has ended; the journal may have lost its last messages")
    }

    /// Reads the messages of the member's partitions. Claims again each time the claim ends, for example because the
    /// member's partitions have changed.
    private func readShare() async throws {
        let claiming = BusRetry(holding: .nothing, logger: loop.logger, clock: loop.clock)
        let preparation = BusRetry(holding: .claim, logger: loop.logger, clock: loop.clock)
        while failure == nil {
            do {
                let claim = try await claiming.run {
                    try await self.loop.bus.engine.claim(consumer: self.loop.consumer, as: self.member)
                }
                try await preparation.run { try await self.loop.tellCutOffs(of: claim) }
                let partitions = Set(claim.offsets.keys)
                let kept = claim.continues(prepared.claim) ? prepared.partitions.intersection(partitions) : []
                // Messages that the queue drops may have been handled under an earlier claim: their results are read
                // anew.
                let new = partitions.subtracting(kept).union(queue.dropped(by: claim))
                prepared = (claim, partitions.subtracting(new))
                try await preparation.run { try await self.whenClaimed(claim, new) }
                prepared = (claim, partitions)
                // If the run has failed in the meantime, nothing would end the reading under this claim.
                guard failure == nil else { return }
                begin(claim)
                try await receiveMessagesUntilClaimEnds(under: claim)
            } catch let error as BusError where [.fenced, .epoch, .unrecorded].contains(error.code) {
                loop.logger.debug("claiming again: \(error)")
            }
            queue.suspend()
            try Task.checkCancellation()
        }
    }

    private func receiveMessagesUntilClaimEnds(under claim: ConsumerClaim) async throws {
        let end = claimEnd
        try await withThrowingTaskGroup { group in
            group.addTask { try await self.receiveMessages(under: claim) }
            group.addTask { try await end.waitUntilOpen() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func receiveMessages(under claim: ConsumerClaim) async throws {
        try await loop.bus.engine.withSubscription(to: loop.filters, under: claim, progress: progress) { messages in
            loop.whenLive()
            for try await delivery in messages.deliveries {
                await receive(delivery)
                try Task.checkCancellation()
            }
        }
    }

    private func begin(_ claim: ConsumerClaim) {
        claimEnd = Latch()
        hasClaimEnded = false
        queue.adopt(claim)
        forgetDropped()
        loop.timers?.renew()
        loop.metrics.began(claim, loop.filters)
        advance()
    }

    private func receive(_ delivery: Delivery) async {
        queue.enqueue(delivery)
        advance()
        guard !queue.hasRoom, !queue.isStopping, !hasClaimEnded, stage != .over else { return }
        if !hasWarned {
            hasWarned = true
            loop.logger.info(
                "\(loop.consumer) has \(queue.count) unfinished messages; it stops reading until some are finished")
        }
        await withCheckedContinuation { room = $0 }
    }

    // MARK: Handling

    /// Performs all steps that are possible now.
    private func advance() {
        if failure != nil || Task.isShuttingDownGracefully { queue.stop() }
        while let step = queue.next() {
            switch step {
            case .publish(let batch, let permit): jobInput.yield(.publish(batch, permit))
            case .fire(let timer, let permit):
                if loop.timers?.isOpen(timer) == true {
                    jobInput.yield(.fire(timer, permit))
                } else {
                    queue.fired(permit)
                }
            case .handle(let message, let permit):
                if let results = loop.plainResults(of: message) {
                    queue.handled(results, of: permit)
                } else if handler == nil {
                    jobInput.yield(.work(message, permit))
                } else if let missing = handler?.missing(for: message) {
                    jobInput.yield(.restore(missing, message, permit))
                } else {
                    queue.handled(compute(message), of: permit)
                }
            }
        }
        progress.oldestUnfinished = queue.oldestUnfinished
        loop.metrics.update(loop.consumer, unfinished: queue.count, settled: queue.settled)
        if queue.hasRoom || queue.isStopping { makeRoom() }
        if stage == .draining, failure == nil ? queue.isQuiet : queue.isPublished { jobInput.finish() }
    }

    /// Resumes the reader if it waits.
    private func makeRoom() {
        room?.resume()
        room = nil
    }

    private func compute(_ message: Envelope) -> Handled {
        do {
            return try handler?.handle(message) ?? Handled()
        } catch {
            loop.logger.error(
                "the handler failed: \(error)", metadata: ["type": "\(message.type)", "id": "\(message.id)"])
            handler?.revert(message.partition, from: message.position?.offset ?? 0)
            return loop.givenUp(message, as: "failed", because: "could not handle \(message.type)")
        }
    }

    /// Reads the documents that the handler needs for a message. Then the handler handles the message.
    private func restore(_ names: [DocumentName], for message: Envelope, permit: ConsumerQueue.Permit) async {
        do {
            let retry = BusRetry(holding: .nothing, logger: loop.logger, clock: loop.clock)
            var documents: [Envelope] = []
            for name in names {
                let document = try await cancelWhenGracefulShutdown {
                    try await retry.runUntilShutdown { try await self.document(name) }
                }
                guard let document else { continue }
                documents.append(document)
            }
            if queue.isCurrent(permit) {
                handler?.restore(documents, for: message)
                queue.handled(compute(message), of: permit)
            } else {
                queue.handled(nil, of: permit)
            }
        } catch {
            queue.handled(nil, of: permit)
            queue.stop()
            if !(error is CancellationError) { fail(error) }
        }
        advance()
    }

    /// Nil if there is no such document, or none can have this name.
    private func document(_ name: DocumentName) async throws -> Envelope? {
        do {
            return try await loop.bus.document(name.type, subject: name.subject, key: name.key)
        } catch let error as BusError where [.refused, .malformed].contains(error.code) {
            loop.logger.warning("\(name.type) of session '\(name.subject)' cannot be read: \(error)")
            return nil
        }
    }

    /// The handler must not use the states of partitions that were dropped.
    private func forgetDropped() {
        let dropped = queue.drainDropped()
        guard !dropped.isEmpty else { return }
        handler?.forget(dropped)
        loop.timers?.renew()
    }

    private func handle(_ message: Envelope, _ permit: ConsumerQueue.Permit) async {
        do {
            let results = try await work?(message) ?? Handled()
            queue.handled(results, of: permit)
        } catch is PartitionLost {
            queue.handled(nil, of: permit)
        } catch is CancellationError where Task.isCancelled || Task.isShuttingDownGracefully {
            queue.handled(nil, of: permit)
            // The messages after an unfinished one in its partition must not overtake it.
            queue.stop()
        } catch {
            queue.handled(nil, of: permit)
            fail(error)
        }
        advance()
    }

    // MARK: Timers

    /// Passes the timers that are due to the queue, until the run is over.
    private func watch(_ timers: OpenTimers) async {
        while let due = try? await timers.due() {
            for timer in due { queue.enqueue(timer) }
            advance()
        }
    }

    /// Publishes the messages of a timer, unless its document has gone. If the service is asked to stop meanwhile, the
    /// next owner of the partition does it: a service that stops does not wait for a bus that is away.
    private func fire(_ timer: OpenTimers.DueTimer, _ permit: ConsumerQueue.Permit) async {
        do {
            try await cancelWhenGracefulShutdown { try await self.publish(timer, permit) }
        } catch let error as BusError where [.fenced, .epoch, .unrecorded].contains(error.code) {
            lost(permit, error)
        } catch let error as BusError where [.refused, .malformed].contains(error.code) {
            // The next owner of the partition tries again.
            loop.timers?.fired(timer, hasEnded: false)
            queue.fired(permit)
        } catch is CancellationError {
            queue.abandon(permit)
        } catch {
            queue.abandon(permit)
            fail(error)
        }
        forgetDropped()
        advance()
    }

    private func publish(_ timer: OpenTimers.DueTimer, _ permit: ConsumerQueue.Permit) async throws {
        guard let timers = loop.timers else { return }
        let retry = BusRetry(holding: .claim, logger: loop.logger, clock: loop.clock)
        let document = try await retry.runUntilShutdown { try await self.document(timer.id) }
        // If the partition was dropped meanwhile, the timer fires again under the next claim.
        if queue.isCurrent(permit), let fence = Checkpoint(guarding: permit.partition, of: queue.claim) {
            var hasEnded = true
            if let document {
                let messages = self.messages(of: timer, document, timers)
                hasEnded = messages.contains { $0.isTombstone && DocumentName($0) == timer.id }
                do {
                    try await retry.runUntilShutdown {
                        _ = try await loop.bus.publish(Batch(messages, checkpoint: fence))
                    }
                } catch let error as BusError where hasEnded && [.refused, .malformed].contains(error.code) {
                    // The timer would be refused again. The person learns that it has not done what it was for.
                    let removal = Envelope.withdrawal(of: timer.id, source: loop.bus.source)
                    let answers = loop.givenUp(
                        document, as: "refused", because: "could not send a scheduled command"
                    ).messages
                    loop.logger.error(
                        "a timer is removed: \(error)", metadata: ["timer": "\(timer.id.key ?? "")"])
                    try await retry.runUntilShutdown {
                        _ = try await loop.bus.publish(Batch([removal] + answers, checkpoint: fence))
                    }
                }
            }
            timers.fired(timer, hasEnded: hasEnded)
        }
        queue.fired(permit)
    }

    /// The messages of a timer. If its document cannot be read, the message that withdraws it.
    private func messages(
        of timer: OpenTimers.DueTimer, _ document: Envelope, _ timers: OpenTimers
    ) -> [Envelope] {
        do {
            return try timers.messages(document)
        } catch {
            loop.logger.error("a timer is removed: \(error)", metadata: ["timer": "\(timer.id.key ?? "")"])
            return [.withdrawal(of: timer.id, source: loop.bus.source)]
        }
    }

    // MARK: Publishing

    private func publish(_ batch: Batch, _ permit: ConsumerQueue.Permit) async {
        do {
            // While the bus is unavailable or the journal cannot be written, the batch is kept and published later.
            let retry = BusRetry(holding: .claim, logger: loop.logger, clock: loop.clock)
            try await retry.runUntilShutdown { _ = try await loop.bus.publish(batch) }
            recorded(permit)
        } catch let error as BusError {
            switch error.code {
            case .refused, .malformed, .deadLetter: refused(permit, error)
            case .fenced, .epoch, .unrecorded: lost(permit, error)
            default:
                queue.abandon(permit)
                fail(error)
            }
        } catch is CancellationError {
            queue.abandon(permit)
        } catch {
            queue.abandon(permit)
            fail(error)
        }
        forgetDropped()
        advance()
    }

    private func recorded(_ permit: ConsumerQueue.Permit) {
        let finished = queue.recorded(permit)
        if let last = finished.last?.message.position { handler?.keep(permit.partition, through: last.offset) }
        for outcome in finished {
            outcome.results.whenRecorded?()
            guard !outcome.results.isPassed else { continue }
            loop.metrics.count(hasFailed: outcome.results.rejection != nil)
        }
    }

    private func refused(_ permit: ConsumerQueue.Permit, _ error: BusError) {
        switch queue.refused(permit) {
        case .forgotten: break
        case .repeats(let offset): handler?.revert(permit.partition, from: offset)
        case .replaces(let outcome):
            let message = outcome.message
            handler?.revert(permit.partition, from: message.position?.offset ?? 0)
            loop.logger.error(
                "the bus refused the results: \(error)", metadata: ["type": "\(message.type)", "id": "\(message.id)"])
            guard let replacement = loop.replacement(of: outcome, error) else {
                queue.abandon(permit)
                return fail(error)
            }
            queue.replace(permit, with: replacement)
        }
    }

    private func lost(_ permit: ConsumerQueue.Permit, _ error: BusError) {
        guard queue.lost(permit) == .needsClaim else { return }
        if member.mode == .shared {
            loop.logger.debug("dropping a partition and claiming again: \(error)")
            claimEnd.open()
            // A reader that waits for room would not see the end of the claim.
            hasClaimEnded = true
            makeRoom()
        } else {
            fail(error)
        }
    }

    /// Ends the run with an error, after other existing results have been published. Only the first call has an effect.
    private func fail(_ error: any Error) {
        guard failure == nil else { return }
        failure = error
        claimEnd.open()
    }
}

extension ConsumerClaim {
    fileprivate func cutOffError(of filters: [MessageFilter]) -> ApplicationError? {
        let missed = cutOffs.filter { cutOff in
            filters.contains { $0.matches(cutOff.type, subject: $0.subject ?? Session.default) }
        }
        guard !missed.isEmpty else { return nil }
        let list = missed.map { cutOff in
            "\(cutOff.count) \(cutOff.type) (offsets \(cutOff.offsets.lowerBound) to \(cutOff.offsets.upperBound))"
        }
        return ApplicationError(
            code: "journal.cutoff",
            message: "retention removed messages that \(consumer) had not handled: \(list.joined(separator: ", "))",
            recovery: "let the broker keep a larger journal, and find out why \(consumer) lagged")
    }
}
