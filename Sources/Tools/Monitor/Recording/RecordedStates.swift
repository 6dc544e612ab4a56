internal import Contracts
internal import EventBus
internal import FlowReview
internal import Navigation

/// The states of one session on one platform, as a recording has them.
package struct RecordedStates: Sendable {
    private let platform: String
    private let session: String
    /// The last by the message that led to them, as it was published: most are never looked at.
    private var documents: [String: Envelope] = [:]
    /// The commands that came too late.
    private var expired: Set<String> = []
    /// The state that the first message led to that led to any, and where it stands.
    private var first: (document: Envelope, number: Int)?
    /// Where the last message stands of which a state is recorded: behind it nobody can tell whether there was one more.
    private var lastAnswered = 0
    private var numbers: [String: Int] = [:]
    private var beginsWithRetained = false
    /// The sessions that there are messages of.
    package private(set) var sessions: Set<String> = []

    package init(of platform: String, session: String) {
        self.platform = platform
        self.session = session
    }

    package mutating func add(_ entry: RecordingEntry) {
        switch entry {
        case .header(let header): beginsWithRetained = header.beginsWithRetained
        case .message(let recorded):
            sessions.insert(recorded.message.subject)
            if recorded.message.subject == session { add(recorded) }
        case .end, .mistake, .cutOff: break
        }
    }

    private mutating func add(_ recorded: RecordedMessage) {
        let message = recorded.message
        numbers[message.id] = recorded.number
        if message.type == Document.NavigationState.type, message.attributes.key == platform {
            let cause = message.attributes.causationID
            // An answer that releases a queue leads to several states, and a machine takes it whole.
            if first == nil || cause != nil && first?.document.attributes.causationID == cause {
                first = (message, recorded.number)
            }
            guard let cause else { return }
            documents[cause] = message
            lastAnswered = max(lastAnswered, numbers[cause] ?? 0)
        } else if message.type == DomainEvent.MessageDiscarded.type, message.attributes.platform == platform,
            let discarded = try? message.decode(DomainEvent.MessageDiscarded.self), discarded.reason == "expired"
        {
            expired.insert(discarded.messageID)
        }
    }

    package var isEmpty: Bool { first == nil }

    func hasExpired(_ message: Envelope) -> Bool { expired.contains(message.id) }

    /// What the recording says that a message has led to.
    func state(after recorded: RecordedMessage) throws -> RecordedStep.State {
        guard let document = documents[recorded.message.id] else {
            return recorded.number < lastAnswered ? .unchanged : .unknown
        }
        return .changed(try document.decode(Document.NavigationState.self).snapshot)
    }

    /// Where the machine begins, and behind which message: a recording may begin amid a story.
    func beginning(of flow: Flow) throws -> (machine: Machine, number: Int) {
        let start = Machine(flow: flow, session: session)
        guard let first else { return (start, 0) }
        let snapshot = try first.document.decode(Document.NavigationState.self).snapshot
        let cause = first.document.attributes.causationID.flatMap { numbers[$0] }
        if snapshot.revision == 0 || snapshot.revision == 1 && cause != nil { return (start, 0) }
        // What is retained, and older than the state, was told to the coordinator before.
        return (Restoration(snapshot, flow: flow).machine, cause ?? (beginsWithRetained ? first.number : 0))
    }
}
