internal import Contracts
internal import EventBus
internal import Logging
internal import Navigation
internal import Synchronization

/// The pieces of work that are under way.
final class WorkUnderWay: Sendable {
    private let pieces = Mutex<[PieceOfWork]>([])
    /// One for each piece, begun when it is started.
    let tasks = Companions<PieceOfWork>()

    func start(_ piece: PieceOfWork) {
        pieces.withLock { $0.append(piece) }
        tasks.begin(piece)
    }

    /// Forgets a piece that has ended.
    func forget(_ piece: PieceOfWork) {
        pieces.withLock { $0.removeAll { $0.cause.id == piece.cause.id } }
    }

    /// Ends pieces, and returns when they have ended.
    func end(where isMeant: (PieceOfWork) -> Bool) async throws -> [PieceOfWork] {
        let ended = pieces.withLock { $0.filter(isMeant) }
        for piece in ended {
            try await piece.end()
            forget(piece)
        }
        return ended
    }
}

extension ScreenWork {
    func results(of message: Envelope, _ underWay: WorkUnderWay, _ loop: ConsumerLoop) async throws -> Handled {
        do {
            return message.type == DomainEvent.ScreenDismissed.type
                ? try await end(message, underWay) : try await begin(message, underWay, loop)
        } catch let error as BusError where !error.isOfProcess {
            logger.error("given up: \(error)", metadata: ["type": "\(message.type)", "id": "\(message.id)"])
            return loop.givenUp(message, "failed", "could not handle \(message.type)")
        }
    }

    /// Begins what a command asks for, in place of what its instance has had begun by such a command before. The work starts
    /// once its document is recorded: what is not would not be taken up after a crash.
    private func begin(
        _ message: Envelope, _ underWay: WorkUnderWay, _ loop: ConsumerLoop
    ) async throws -> Handled {
        if message.attributes.isExpired(at: now()) { return Handled(try message.expired(source: bus.source)) }
        let data: JSONValue
        let call: PieceOfWork.Call
        do {
            call = try self.call(for: message)
            data = try JSONValue(parsing: message.data)
        } catch let error as BusError where error.code == .malformed {
            return loop.malformed(message, error.message)
        } catch let error as DecodingError {
            return loop.malformed(message, error.summary)
        }
        guard let piece = PieceOfWork(message, call) else {
            return try discarded(message, "it comes from no screen, with whose end the work could end")
        }
        // Asked of the state and not of what was heard: the dismissal may have come before the command, and before the
        // last restart. It was published with the state; if that still has the instance, the dismissal is yet to come.
        guard try await isStanding(piece) else {
            return try discarded(message, "no screen instance '\(piece.instance)' stands")
        }
        let former = try await underWay.end {
            $0.isFor(piece.platform, piece.instance, subject: message.subject) && $0.cause.type == message.type
        }
        let work = Document.ScreenWork(consumer: consumer, attributes: message.attributes, data: data)
        return Handled(former.map(withdrawal) + [try bus.envelope(work, causedBy: message)]) { underWay.start(piece) }
    }

    /// Ends all that is done for a dismissed instance.
    private func end(_ message: Envelope, _ underWay: WorkUnderWay) async throws -> Handled {
        guard let dismissed = try? message.decode(DomainEvent.ScreenDismissed.self) else { return Handled() }
        let ended = try await underWay.end {
            $0.isFor(message.attributes.platform, dismissed.instance, subject: message.subject)
        }
        return Handled(ended.flatMap { withdrawals(of: $0, causedBy: message) })
    }

    /// What goes with the instance.
    func withdrawals(of piece: PieceOfWork, causedBy cause: Envelope) -> [Envelope] {
        let types = routes[piece.cause.type]?.withdraws ?? []
        return [withdrawal(of: piece)]
            + types.map { .withdrawal($0, key: piece.instance, source: bus.source, causedBy: cause) }
    }

    /// Does a piece of work until it ends by itself or is ended.
    func run(_ piece: PieceOfWork, _ underWay: WorkUnderWay) async throws {
        try await piece.run {
            var messages = [withdrawal(of: piece)]
            do {
                try await piece.call()
            } catch  where Task.isCancelled {
                return
            } catch let error as BusError where error.isOfProcess {
                throw error
            } catch {
                logger.error("failed: \(error)", metadata: ["id": "\(piece.cause.id)"])
                let failure =
                    error as? ApplicationError
                    ?? ApplicationError(
                        code: "\(consumer).failed", message: "\(consumer) could not go on with \(piece.cause.type)",
                        recovery: "see its log for message \(piece.cause.id)")
                messages += (try? [bus.envelope(failure, causedBy: piece.cause)]) ?? []
            }
            underWay.forget(piece)
            do {
                try await bus.publish(Batch(messages))
            } catch let error as BusError where error.code == .refused {
                logger.error("its end could not be told: \(error)", metadata: ["id": "\(piece.cause.id)"])
                do {
                    try await bus.publish(Batch([withdrawal(of: piece)]))
                } catch let error as BusError where error.code == .refused {
                    logger.error("its document could not be withdrawn: \(error)", metadata: ["id": "\(piece.cause.id)"])
                }
            }
        }
    }

    func call(for message: Envelope) throws -> PieceOfWork.Call {
        guard let route = routes[message.type] else {
            throw BusError(.malformed, "\(consumer) has no handler for \(message.type)")
        }
        return try route.begin(MessageContext(cause: message, bus: bus, logger: logger))
    }

    func isStanding(_ piece: PieceOfWork) async throws -> Bool {
        do {
            let state = try await bus.document(
                Document.NavigationState.self, subject: piece.cause.subject, key: piece.platform)
            return state?.snapshot.state.isStanding(piece.instance) ?? false
        } catch let error as BusError where [.malformed, .refused].contains(error.code) {
            // The state of another version, or a platform that cannot have one.
            return false
        }
    }

    private func withdrawal(of piece: PieceOfWork) -> Envelope {
        let key = Document.ScreenWork(consumer: consumer, attributes: piece.cause.attributes, data: .null).key
        return .withdrawal(Document.ScreenWork.type, key: key, source: bus.source, causedBy: piece.cause)
    }

    private func discarded(_ message: Envelope, _ reason: String) throws -> Handled {
        Handled([
            try bus.envelope(DomainEvent.MessageDiscarded(messageID: message.id, reason: reason), causedBy: message)
        ])
    }
}
