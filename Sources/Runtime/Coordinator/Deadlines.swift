internal import Consuming
internal import Contracts
internal import EventBus
internal import Navigation
internal import Synchronization

/// A delay after which a coordinator publishes a report, if the state then still waits for ``object``.
struct Deadline: Sendable {
    /// A leaving screen, or a rule that waits for the answer to its guard (an attempt).
    struct Object: Hashable, Sendable {
        let session: String
        let kind: Document.Deadline.Object
        /// The identifier of the screen instance, or of the attempt.
        let id: String
    }

    let object: Object
    let delay: Duration
    /// The attributes of the message that made the state wait, or of the restored document that recorded the wait.
    let cause: Attributes

    /// All objects that a state waits for: its leaving screens and its attempt. Empty if the state is nil.
    static func objects(in state: NavigationState?, of session: String) -> Set<Object> {
        guard let state else { return [] }
        let screens = state.leaving.map { Object(session: session, kind: .screen, id: $0.id) }
        let attempts = [state.attempt].compactMap(\.self).map { Object(session: session, kind: .attempt, id: $0.id) }
        return Set(screens + attempts)
    }

    func document(platform: String) -> Document.Deadline {
        Document.Deadline(
            platform: platform, object: object.kind, id: object.id,
            delay: Int64(delay / .milliseconds(1)))
    }
}

extension Deadline {
    /// - Throws: ``BusError`` if the message is not a `document.Deadline`.
    init(_ envelope: Envelope) throws {
        let document = try envelope.decode(Document.Deadline.self)
        object = Object(session: envelope.subject, kind: document.object, id: document.id)
        delay = .milliseconds(max(0, document.delay))
        cause = envelope.attributes
    }
}

/// The recorded deadlines of all sessions.
final class OpenDeadlines: Sendable {
    private let objects = Mutex<Set<Deadline.Object>>([])
    /// One task for each deadline, started when the deadline is recorded.
    let timers = ConsumerTasks<Deadline>()

    func open(_ deadlines: [Deadline]) {
        for deadline in deadlines where objects.withLock({ $0.insert(deadline.object).inserted }) {
            timers.begin(deadline)
        }
    }

    func close(_ closed: Set<Deadline.Object>) {
        objects.withLock { $0.subtract(closed) }
    }

    func isOpen(_ deadline: Deadline) -> Bool { objects.withLock { $0.contains(deadline.object) } }
}
