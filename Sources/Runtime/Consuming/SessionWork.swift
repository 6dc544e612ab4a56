internal import Contracts
internal import EventBus
internal import Synchronization

/// The pieces of work that run beside the loop of a ``MessageConsumer``.
///
/// A session has one piece of work for each message type. A document that says `loading` records it; the document is in
/// the batch of the message's progress. The results of the work replace this document, in a batch of their own that the
/// claim on the partition fences. So the results are recorded once, and a restarted service, or another one that gets
/// the partition, finds the work that is unfinished.
final class SessionWork: Sendable {
    private struct State {
        var pieces: [Piece] = []
        var claim: ConsumerClaim?
    }

    private let state = Mutex(State())
    /// One task for each piece of work.
    let tasks = ConsumerTasks<Piece>()

    /// The present claim. Nil before the first one.
    var claim: ConsumerClaim? { state.withLock(\.claim) }

    /// Starts a piece of work, unless the work of the same message runs already.
    func begin(_ piece: Piece) {
        let isNew = state.withLock { state in
            guard !state.pieces.contains(where: { $0.cause.id == piece.cause.id }) else { return false }
            state.pieces.append(piece)
            return true
        }
        if isNew { tasks.begin(piece) }
    }

    /// Removes a piece of work from the list. Does not cancel its task.
    func forget(_ piece: Piece) {
        state.withLock { $0.pieces.removeAll { $0.cause.id == piece.cause.id } }
    }

    /// Cancels pieces of work, and returns them after they have ended.
    @discardableResult
    func end(where isMeant: (Piece) -> Bool) async throws -> [Piece] {
        let ended = state.withLock { state in
            let ended = state.pieces.filter(isMeant)
            // Another call cannot find these pieces, so this call alone waits for them.
            state.pieces.removeAll(where: isMeant)
            return ended
        }
        for piece in ended { try await piece.task.end() }
        return ended
    }

    /// Takes a new claim. Ends the work of partitions that the claim does not cover, and of partitions that another
    /// member may have had meanwhile.
    func adopt(_ claim: ConsumerClaim, new: Set<Partition>) async throws {
        state.withLock { $0.claim = claim }
        try await end { claim.offsets[$0.cause.partition] == nil || new.contains($0.cause.partition) }
    }
}

/// A piece of work of a session.
struct Piece: Sendable {
    /// The message that started the work. After a restart it is made from the document, with the same id.
    let cause: Envelope
    let call: WorkCall
    let task = StoppableTask()
}

/// A decoded message with the handler that runs beside the loop.
struct WorkCall: Sendable {
    /// False if the message is not discarded when a newer one ends its work.
    let discardsReplaced: Bool
    let work: @Sendable () async throws -> [Envelope]
    /// The messages to publish if the work fails.
    let whenGivenUp: @Sendable () throws -> [Envelope]
}

/// Finds the unfinished work that a document records.
struct WorkRecord: Sendable {
    let document: MessageType
    /// Returns the message that started the work. Nil if the document records no unfinished work.
    let cause: @Sendable (_ document: Envelope) -> Envelope?

    /// - Parameter unfinished: Returns the message that a document records. Nil if its work has finished.
    init<M: Message, D: DocumentMessage>(_ type: M.Type, unfinished: @escaping @Sendable (D) -> M?) {
        document = D.type
        cause = { envelope in
            guard !envelope.isTombstone, let id = envelope.attributes.causationID,
                let document = try? envelope.decode(D.self), let message = unfinished(document),
                let parent = try? Envelope(
                    message, source: envelope.attributes.source, causedBy: envelope.attributes, id: id)
            else { return nil }
            return parent
        }
    }
}
