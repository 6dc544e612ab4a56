internal import Contracts
internal import EventBus
internal import Foundation
internal import Logging
internal import Navigation

extension ScreenWork {
    /// Begins what a command asks for, in place of what its instance has had begun by such a command before.
    func begin(
        _ message: Envelope, _ pieces: inout [PieceOfWork], _ tasks: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws -> [Envelope] {
        if message.attributes.isExpired(at: now()) { return try discarded(message, "expired") }
        guard let piece = PieceOfWork(message) else {
            return try discarded(message, "it comes from no screen, with whose end the work could end")
        }
        // Asked of the state and not of what was heard: the dismissal may have come before the command, and before the
        // last restart. It was published with the state; if that still has the instance, the dismissal is yet to come.
        guard try await isStanding(piece) else {
            return try discarded(message, "no screen instance '\(piece.instance)' stands")
        }
        let call: @Sendable () async throws -> Void
        let data: JSONValue
        do {
            call = try self.call(for: message)
            data = try JSONValue(parsing: message.data)
        } catch let error as BusError where error.code == .malformed {
            logger.error("given up: \(error)", metadata: ["type": "\(message.type)", "id": "\(message.id)"])
            let answer = ApplicationError(code: "message.malformed", message: error.message)
            return [try bus.envelope(answer, causedBy: message)]
        }
        let former = try await end(&pieces, message) {
            $0.isFor(piece.platform, piece.instance, subject: message.subject) && $0.cause.type == message.type
        }
        start(piece, call, &tasks)
        pieces.append(piece)
        let work = Document.ScreenWork(consumer: consumer, attributes: message.attributes, data: data)
        return former.map(withdrawal) + [try bus.envelope(work, causedBy: message)]
    }

    /// Ends all that is done for a dismissed instance.
    func end(_ message: Envelope, _ pieces: inout [PieceOfWork]) async throws -> [Envelope] {
        guard let dismissed = try? message.decode(DomainEvent.ScreenDismissed.self) else { return [] }
        let ended = try await end(&pieces, message) {
            $0.isFor(message.attributes.platform, dismissed.instance, subject: message.subject)
        }
        return ended.flatMap { withdrawals(of: $0, causedBy: message) }
    }

    /// What goes with the instance.
    func withdrawals(of piece: PieceOfWork, causedBy cause: Envelope) -> [Envelope] {
        let types = routes[piece.cause.type]?.withdraws ?? []
        return [withdrawal(of: piece)]
            + types.map { .withdrawal($0, key: piece.instance, source: bus.source, causedBy: cause) }
    }

    private func end(
        _ pieces: inout [PieceOfWork], _ message: Envelope, where isMeant: (PieceOfWork) -> Bool
    ) async throws -> [PieceOfWork] {
        let ended = pieces.filter(isMeant)
        pieces.removeAll(where: isMeant)
        for piece in ended { try await piece.end() }
        return ended
    }

    func start(
        _ piece: PieceOfWork, _ call: @escaping @Sendable () async throws -> Void,
        _ tasks: inout ThrowingDiscardingTaskGroup<any Error>
    ) {
        tasks.addTask {
            try await piece.run {
                var messages = [withdrawal(of: piece)]
                do {
                    try await call()
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
                    messages.append(try bus.envelope(failure, causedBy: piece.cause))
                }
                try await bus.publish(Batch(messages))
            }
        }
    }

    func call(for message: Envelope) throws -> @Sendable () async throws -> Void {
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
        } catch let error as BusError where error.code == .malformed {
            return false
        }
    }

    private func withdrawal(of piece: PieceOfWork) -> Envelope {
        let key = Document.ScreenWork(consumer: consumer, attributes: piece.cause.attributes, data: .null).key
        return .withdrawal(Document.ScreenWork.type, key: key, source: bus.source, causedBy: piece.cause)
    }

    private func discarded(_ message: Envelope, _ reason: String) throws -> [Envelope] {
        [try bus.envelope(DomainEvent.MessageDiscarded(messageID: message.id, reason: reason), causedBy: message)]
    }
}

extension Envelope {
    /// Withdraws the document of this key.
    fileprivate static func withdrawal(
        _ type: MessageType, key: String?, source: String, causedBy cause: Envelope
    ) -> Envelope {
        var attributes = Attributes(type: type, source: source, subject: cause.subject)
        attributes.key = key
        attributes.correlationID = cause.attributes.correlationID
        attributes.causationID = cause.id
        attributes.platform = cause.attributes.platform
        return Envelope(attributes: attributes, data: Data())
    }
}
