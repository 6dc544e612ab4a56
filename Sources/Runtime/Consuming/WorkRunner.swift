internal import Contracts
internal import EventBus
internal import Logging
internal import Navigation
internal import ServiceLifecycle

/// Begins, runs and ends the work of a durable consumer.
struct WorkRunner: Sendable {
    /// A piece of work that has been ended, with the messages that say so.
    struct EndedWork {
        let piece: PieceOfWork
        /// The message that replaces or withdraws the document of the work. Empty if the document is kept.
        var document: [Envelope] = []
        /// The `event.MessageDiscarded` about the message that began the work. Empty if it is not discarded.
        var notice: [Envelope] = []
    }

    private let handlers: Handlers
    private let bus: EventBus
    private let logger: Logger
    private let clock: ServiceClock
    private let loop: ConsumerLoop
    private let invoker: HandlerInvoker
    private let running: RunningWork

    init(
        _ handlers: Handlers, bus: EventBus, logger: Logger, clock: ServiceClock, loop: ConsumerLoop,
        invoker: HandlerInvoker, running: RunningWork
    ) {
        self.handlers = handlers
        self.bus = bus
        self.logger = logger
        self.clock = clock
        self.loop = loop
        self.invoker = invoker
        self.running = running
    }

    /// Runs a consumer and, at the same time, the work that begins meanwhile.
    /// - Throws: the first error of the consumer or of the work.
    func run(beside consumer: @escaping @Sendable () async throws -> Void) async throws {
        try await running.tasks.run(beside: consumer) { try await run($0) }
    }

    // MARK: Beginning

    /// Starts the work that the documents of new partitions record. Ends the work of screens that have been dismissed
    /// meanwhile.
    func resume(_ claim: ConsumerClaim, _ new: Set<Partition>) async throws {
        guard !new.isEmpty else { return }
        for kind in handlers.works.values {
            // A session or a screen has one piece of work, whatever documents a stranger has published.
            var pieces: [[String?]: PieceOfWork] = [:]
            for document in try await bus.documents(matching: [.type(kind.record)]) {
                guard new.contains(document.partition), let piece = PieceOfWork(kind, recordedBy: document) else {
                    continue
                }
                pieces[kind.scope.place(of: piece.cause)] = piece
            }
            for piece in pieces.values {
                guard kind.scope == .screen, try await !isOpen(piece.cause) else {
                    running.begin(piece)
                    continue
                }
                do {
                    let fence = Checkpoint(guarding: piece.cause.partition, of: claim)
                    try await bus.publish(Batch(try endMessages(of: piece), checkpoint: fence))
                } catch let error as BusError where [.refused, .malformed].contains(error.code) {
                    logger.error("work cannot be ended: \(error)", metadata: ["id": "\(piece.cause.id)"])
                }
            }
        }
    }

    /// The reason why a message of a screen begins no work. Nil if it begins work.
    func reasonToRefuse(_ kind: WorkKind, _ message: Envelope) async throws -> String? {
        guard kind.scope == .screen else { return nil }
        guard message.attributes.platform != nil, let instance = message.attributes.instance else {
            return "the message names no platform or no screen instance, so its work would never be ended"
        }
        if try await isOpen(message) { return nil }
        return "there is no screen instance '\(instance)'; it may have been dismissed"
    }

    /// True if the screen instance that a message comes from is open.
    private func isOpen(_ message: Envelope) async throws -> Bool {
        guard let platform = message.attributes.platform, let instance = message.attributes.instance else {
            return false
        }
        do {
            let state = try await bus.document(
                Document.NavigationState.self, subject: message.subject, key: platform)
            return state?.snapshot.state.isOpen(instance) ?? false
        } catch let error as BusError where [.malformed, .refused].contains(error.code) {
            // Another version wrote the state, or the platform's name is invalid.
            return false
        }
    }

    /// The results of a message that begins work. The work starts when they are recorded, unless they record none.
    func beginning(_ kind: WorkKind, of message: Envelope, when handled: Handled) -> Handled {
        let pieces = handled.messages.lazy.filter { $0.type == kind.record }
            .compactMap { PieceOfWork(kind, recordedBy: $0) }
        guard handled.rejection == nil, let piece = pieces.first(where: { $0.cause.id == message.id }) else {
            return handled
        }
        var handled = handled
        handled.whenRecorded = { [running, whenRecorded = handled.whenRecorded] in
            whenRecorded?()
            running.begin(piece)
        }
        return handled
    }

    // MARK: Ending

    /// Ends the work that a message ends: work that it replaces, work that its handler names, and the work of a screen
    /// or session that has ended.
    /// - Parameter losses: the number of losses of the partition when the handler was called.
    func end(before message: Envelope, _ call: Route.Call?, after losses: Int) async throws -> [EndedWork] {
        func end(where matches: (PieceOfWork) -> Bool) async throws -> [PieceOfWork] {
            try await running.end(in: message.partition, after: losses, where: matches)
        }
        if message.type == DomainEvent.SessionEnded.type {
            // If the handler succeeds, the documents are withdrawn with the others of the session.
            return try await end { $0.cause.subject == message.subject }.map { piece in
                let name = piece.document
                return EndedWork(
                    piece: piece,
                    document: [
                        .withdrawal(name.type, key: name.key, source: bus.source, causedBy: message.attributes)
                    ])
            }
        }
        if message.type == DomainEvent.ScreenDismissed.type,
            let dismissed = try? message.decode(DomainEvent.ScreenDismissed.self)
        {
            let (platform, session) = (message.attributes.platform, message.subject)
            let pieces = try await end {
                $0.kind.scope == .screen && $0.isOf(instance: dismissed.instance, platform, session: session)
            }
            var ended: [EndedWork] = []
            for piece in pieces {
                guard try await isRecorded(piece) else { continue }
                ended.append(EndedWork(piece: piece, document: try endMessages(of: piece)))
            }
            return ended
        }
        guard let record = call?.ends else { return [] }
        let isReplaced = handlers.routes[message.type]?.begins == record
        let pieces = try await end { piece in
            guard piece.kind.record == record else { return false }
            return isReplaced
                ? piece.isReplaced(by: message) : piece.cause.subject == message.subject && piece.cause.id != message.id
        }
        var ended: [EndedWork] = []
        for piece in pieces {
            // The results may have been recorded before the work was ended.
            guard try await isRecorded(piece) else { continue }
            var work = EndedWork(piece: piece, document: try endMessages(of: piece))
            if piece.kind.discardsReplaced || !isReplaced {
                let reason = "a later \(message.type) of the session has \(isReplaced ? "replaced" : "ended") it"
                let discarded = DomainEvent.MessageDiscarded(messageID: piece.cause.id, reason: reason)
                work.notice = [try bus.envelope(discarded, causedBy: piece.cause)]
            }
            ended.append(work)
        }
        return ended
    }

    private func endMessages(of piece: PieceOfWork) throws -> [Envelope] {
        let losses = running.losses(of: piece.cause.partition)
        let context = invoker.context(of: piece.cause, sends: piece.kind.sends, after: losses)
        return try invoker.envelopes(of: [piece.ended], context, piece.kind.sends)
    }

    // MARK: Running

    /// Runs a piece of work, and publishes its results.
    private func run(_ piece: PieceOfWork) async throws {
        let losses = running.losses(of: piece.cause.partition)
        let context = invoker.context(of: piece.cause, sends: piece.kind.sends, after: losses)
        try await piece.task.run {
            defer { running.forget(piece) }
            do {
                let whenGivenUp = try endMessages(of: piece)
                let results = try await invoker.attempts(whenGivenUp: whenGivenUp, context) {
                    Handled(try invoker.envelopes(of: try await piece.kind.run(context), context, piece.kind.sends))
                }
                do {
                    try await publish(results.messages, of: piece, after: losses)
                } catch let error as BusError where !error.isOfProcess {
                    context.logger.error("the bus refused the results of the work: \(error)")
                    let error = loop.givenUp(
                        piece.cause, as: "refused",
                        because: "published results for \(piece.cause.type) that the bus refused")
                    try await publish(whenGivenUp + error.messages, of: piece, after: losses)
                }
            } catch is CancellationError where Task.isCancelled || Task.isShuttingDownGracefully {
                // The next process, or the next owner of the partition, starts the work again.
            } catch is PartitionLost {
                // The next owner of the partition has started the work again.
            } catch let error as BusError where !error.isOfProcess {
                context.logger.error("the end of the work could not be published: \(error)")
            }
        }
    }

    /// Publishes the results of a piece of work, and withdraws its document if they do not replace it, unless another
    /// member has got the partition.
    private func publish(_ messages: [Envelope], of piece: PieceOfWork, after losses: Int) async throws {
        var messages = messages
        if !messages.contains(where: { DocumentName($0) == piece.document }) {
            let (name, cause) = (piece.document, piece.cause.attributes)
            messages.append(.withdrawal(name.type, key: name.key, source: bus.source, causedBy: cause))
        }
        var batch: Batch?
        var epoch: UInt64?
        // While the bus is unavailable, the batch is kept. If the claim is renewed meanwhile, the results are published
        // under the new one.
        let retry = BusRetry(holding: .renewedClaim, logger: logger, clock: clock.pauses)
        try await retry.runUntilShutdown {
            guard let fence = running.fence(of: piece.cause.partition, after: losses) else { return }
            if batch == nil || epoch != fence.claim.ownerGeneration {
                // The batch of the former claim may have been recorded. Then the document records no work any more.
                if batch != nil, try await !isRecorded(piece) { return }
                batch = Batch(messages, checkpoint: fence)
                epoch = fence.claim.ownerGeneration
            }
            if let batch { try await bus.publish(batch) }
        }
    }

    /// True if the document of a piece still records it as unfinished.
    private func isRecorded(_ piece: PieceOfWork) async throws -> Bool {
        let name = piece.document
        guard let document = try await bus.document(name.type, subject: name.subject, key: name.key) else {
            return false
        }
        return PieceOfWork(piece.kind, recordedBy: document)?.cause.id == piece.cause.id
    }
}
