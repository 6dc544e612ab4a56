internal import Contracts
public import EventBus
internal import Synchronization

/// A document that records work which a message has begun, see ``Handlers/work(recordedBy:of:sends:begin:work:)``.
public protocol WorkRecord: DocumentMessage {
    /// The message that begins the work.
    associatedtype Trigger: Message

    /// The message that began the work. Nil if the work has finished, or if there is none to do.
    var unfinished: Trigger? { get }
    /// The document that replaces this one if the work fails or is ended. Nil to withdraw the document.
    var ended: Self? { get }
    /// False if the message has had its effect when a newer one ends its work, for example because the work follows
    /// something until it is ended. The older message is then not discarded.
    static var discardsReplaced: Bool { get }
}

extension WorkRecord {
    public var ended: Self? { nil }
    public static var discardsReplaced: Bool { true }
}

/// The part of an app that a piece of work belongs to. The work ends with it.
public enum WorkScope: Hashable, Sendable {
    /// The session of the message that begins the work.
    case session
    /// The screen instance that the message comes from.
    case screen

    /// Distinguishes the sessions, or the screens, that messages come from.
    func place(of message: Envelope) -> [String?] {
        switch self {
        case .session: [message.subject]
        case .screen: [message.subject, message.attributes.platform, message.attributes.instance]
        }
    }
}

/// The work that documents of one type record.
struct WorkKind: Sendable {
    let record: MessageType
    let scope: WorkScope
    let sends: DeclaredMessages
    let discardsReplaced: Bool
    /// The message that began the work which a document records, and the results that end the work early. Nil if the
    /// document records no unfinished work, or cannot be read.
    let unfinished: @Sendable (_ document: Envelope) -> (cause: Envelope, ended: any HandlerResult)?
    /// Does the work of a message.
    /// - Throws: ``BusError`` with the code `malformed` if the message does not match its type, and the errors of the
    ///   work.
    let run: @Sendable (MessageContext) async throws -> [any HandlerResult]

    init<Record: WorkRecord>(
        _ type: Record.Type, scope: WorkScope, sends: DeclaredMessages,
        work: @escaping @Sendable (Record.Trigger, MessageContext) async throws -> [any HandlerResult]
    ) {
        record = Record.type
        self.scope = scope
        self.sends = sends
        discardsReplaced = Record.discardsReplaced
        unfinished = { envelope in
            guard !envelope.isTombstone, let id = envelope.attributes.causationID,
                let document = try? envelope.decode(Record.self), document.key == envelope.attributes.key,
                let trigger = document.unfinished,
                let cause = try? Envelope(
                    trigger, source: envelope.attributes.source, causedBy: envelope.attributes, id: id)
            else { return nil }
            let key = envelope.attributes.key
            return (cause, document.ended ?? Withdrawal(type: Record.type, key: .document(key)))
        }
        run = { context in try await work(context.cause.decode(Record.Trigger.self), context) }
    }
}

/// A piece of work that runs.
struct PieceOfWork: Sendable {
    let kind: WorkKind
    /// The message that began the work. After a restart it is made from the document, with the same id.
    let cause: Envelope
    /// The document that records the work.
    let document: DocumentName
    /// The result that replaces or withdraws the document if the work is ended.
    let ended: any HandlerResult
    let task = StoppableTask()

    /// Nil if the document records no unfinished work of the kind.
    init?(_ kind: WorkKind, recordedBy document: Envelope) {
        guard let (cause, ended) = kind.unfinished(document) else { return nil }
        self.kind = kind
        self.cause = cause
        self.document = DocumentName(document)
        self.ended = ended
    }

    /// True if the work belongs to a screen instance. The identifier of an instance is unique only within one platform
    /// and one session, so all three values are compared.
    func isOf(instance: String?, _ platform: String?, session: String) -> Bool {
        cause.attributes.instance == instance && cause.attributes.platform == platform && cause.subject == session
    }

    /// True if both are the work of the same message, recorded by the same document.
    func isSame(as other: PieceOfWork) -> Bool { document == other.document && cause.id == other.cause.id }

    /// True if a message replaces the work: it begins work of the same kind in the same session or screen.
    func isReplaced(by message: Envelope) -> Bool {
        cause.id != message.id && kind.scope.place(of: cause) == kind.scope.place(of: message)
    }
}

/// The pieces of work of a durable consumer that run beside its loop, and the claim that fences their results.
///
/// A document records each piece; it is in the batch of the message's progress. The results of the work replace this
/// document, in a batch of their own that the claim on the partition fences. So the results are recorded once, and a
/// restarted service, or another one that gets the partition, finds the work that is unfinished.
final class RunningWork: Sendable {
    private struct State {
        var pieces: [PieceOfWork] = []
        /// The pieces that have been cancelled and have not ended yet.
        var ending: [PieceOfWork] = []
        /// Nil before the first claim.
        var claim: ConsumerClaim?
        /// The number of times that each partition was lost, or had to be read anew.
        var losses: [Partition: Int] = [:]

        /// Moves pieces to ``ending``, and returns them.
        mutating func remove(where matches: (PieceOfWork) -> Bool) -> [PieceOfWork] {
            let removed = pieces.filter(matches)
            pieces.removeAll(where: matches)
            ending += removed
            return removed
        }
    }

    private let state = Mutex(State())
    /// One task for each piece of work.
    let tasks = ConsumerTasks<PieceOfWork>()

    /// The number of times that a partition was lost, or had to be read anew. A handler that was called before
    /// publishes nothing and ends nothing.
    func losses(of partition: Partition) -> Int { state.withLock { $0.losses[partition, default: 0] } }

    /// A checkpoint that guards what a handler or work publishes. Nil if the partition has been lost since it was
    /// begun.
    /// - Parameter losses: the number of losses of the partition when the handler or the work was begun.
    func fence(of partition: Partition, after losses: Int) -> Checkpoint? {
        state.withLock { state in
            guard let claim = state.claim, state.losses[partition, default: 0] == losses else { return nil }
            return Checkpoint(guarding: partition, of: claim)
        }
    }

    /// Starts a piece of work, unless the work of the same message runs already.
    func begin(_ piece: PieceOfWork) {
        let isNew = state.withLock { state in
            guard !state.pieces.contains(where: { $0.isSame(as: piece) }) else { return false }
            state.pieces.append(piece)
            return true
        }
        if isNew { tasks.begin(piece) }
    }

    /// Removes a piece of work that has ended. The work of the same message may have begun again meanwhile.
    func forget(_ piece: PieceOfWork) {
        state.withLock { state in
            state.pieces.removeAll { $0.task === piece.task }
            state.ending.removeAll { $0.task === piece.task }
        }
    }

    /// Cancels pieces of work of a partition, and returns them after they have ended.
    /// - Parameter losses: the number of losses of the partition when the handler that ends them was called.
    /// - Throws: ``PartitionLost`` if the partition has been lost since.
    func end(
        in partition: Partition, after losses: Int, where matches: (PieceOfWork) -> Bool
    ) async throws -> [PieceOfWork] {
        let ended = try state.withLock { state in
            guard state.losses[partition, default: 0] == losses else { throw PartitionLost() }
            return state.remove { $0.cause.partition == partition && matches($0) }
        }
        for piece in ended { try await piece.task.end() }
        return ended
    }

    /// Adopts a new claim. Ends the work of partitions that the claim does not cover, and of those that are read anew.
    func adopt(_ claim: ConsumerClaim, new: Set<Partition>) async throws {
        let lost = new.union(Partition.all.filter { claim.offsets[$0] == nil })
        let ended = state.withLock { state in
            for partition in lost { state.losses[partition, default: 0] += 1 }
            _ = state.remove { lost.contains($0.cause.partition) }
            // A handler may have ended others, and wait for them.
            return state.ending.filter { lost.contains($0.cause.partition) }
        }
        for piece in ended { try await piece.task.end() }
        state.withLock { $0.claim = claim }
    }
}
