internal import Consuming
internal import Contracts
internal import EventBus
internal import Navigation
internal import Support

/// A delay after which a coordinator publishes a report, if the state then still waits for ``object``.
struct PendingDeadline: Sendable {
    /// A leaving screen, or a rule that waits: for the answer to its guard (an attempt), or for the time in `after`.
    struct Object: Hashable, Sendable {
        let session: String
        let kind: Document.Deadline.Object
        /// The identifier of the screen instance, or of the attempt.
        let id: String

        /// The name of the document that records the deadline.
        func document(platform: String) -> DocumentName {
            DocumentName(
                Document.Deadline.type, subject: session,
                key: Document.Deadline.key(platform: platform, object: kind, id: id))
        }
    }

    /// The maximum time that a view has to animate a screen out. After this time the coordinator reports that the
    /// screen is gone.
    static let animationTime: Duration = .seconds(2)

    let object: Object
    let delay: Duration

    /// All objects that a state waits for: its leaving screens, its attempts and its waits. Empty if the state is nil.
    static func objects(in state: NavigationState?, of session: String) -> Set<Object> {
        guard let state else { return [] }
        let screens = state.leaving.map { Object(session: session, kind: .screen, id: $0.id) }
        let attempts = state.awaitedDeadlines.map { Object(session: session, kind: .attempt, id: $0) }
        return Set(screens + attempts)
    }

    func timer(of timers: OpenTimers, platform: String) -> DurableTimer {
        timers.timer(object.document(platform: platform), after: delay)
    }

    func document(platform: String) -> Document.Deadline {
        Document.Deadline(
            platform: platform, object: object.kind, id: object.id,
            delay: Int64(delay / .milliseconds(1)))
    }
}

extension PendingDeadline {
    /// The deadline that a document records. Nil if it is none of the platform's.
    ///
    /// The document's key says what it is about, even if a stranger has replaced its data. If the data cannot be read,
    /// the delay is ``animationTime``: the state must not wait for ever.
    init?(_ document: Envelope, platform: String) {
        guard let object = Object(DocumentName(document), platform: platform) else { return nil }
        self.object = object
        let recorded = try? document.decode(Document.Deadline.self)
        delay = recorded.map { .milliseconds(max(0, $0.delay)) } ?? Self.animationTime
    }
}

extension PendingDeadline.Object {
    /// Nil if the document records no deadline of the platform.
    init?(_ document: DocumentName, platform: String) {
        guard document.type == Document.Deadline.type,
            let (kind, id) = document.key?.removing(prefix: "\(platform).")?.cut(at: ".").map({ ($0.before, $0.after) }
            ),
            let kind = Document.Deadline.Object(rawValue: String(kind))
        else { return nil }
        self.init(session: document.subject, kind: kind, id: String(id))
    }
}
