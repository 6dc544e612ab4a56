internal import Consuming
internal import Contracts
internal import EventBus
internal import Navigation
internal import Synchronization

/// What a coordinator reports after a while, if the state still waits for it then.
struct Expectation: Sendable {
    /// What the state waits for.
    struct Object: Hashable, Sendable {
        let session: String
        let kind: Document.Deadline.Object
        /// The instance of the screen, or the id of the attempt.
        let id: String
    }

    let object: Object
    let delay: Duration
    /// Those of the message that made the state wait, or of the document that says so.
    let cause: Attributes

    /// All that a state waits for.
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

extension Expectation {
    /// - Throws: ``BusError`` if it is not a deadline.
    init(_ envelope: Envelope) throws {
        let document = try envelope.decode(Document.Deadline.self)
        object = Object(session: envelope.subject, kind: document.object, id: document.id)
        delay = .milliseconds(max(0, document.delay))
        cause = envelope.attributes
    }
}

/// What the states of all sessions wait for, as far as it is recorded.
final class OpenExpectations: Sendable {
    private let objects = Mutex<Set<Expectation.Object>>([])
    /// One for each expectation, begun when it is recorded.
    let timers = Companions<Expectation>()

    func open(_ expectations: [Expectation]) {
        for expectation in expectations where objects.withLock({ $0.insert(expectation.object).inserted }) {
            timers.begin(expectation)
        }
    }

    func close(_ closed: Set<Expectation.Object>) {
        objects.withLock { $0.subtract(closed) }
    }

    func isOpen(_ expectation: Expectation) -> Bool { objects.withLock { $0.contains(expectation.object) } }
}
