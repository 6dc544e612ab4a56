internal import Contracts
package import EventBus
internal import Navigation

/// The messages that one message has led to.
package struct Story: Sendable {
    /// More are counted only: a process that answers itself must not fill the memory.
    private static let limit = 10_000

    /// The id of its first message, which all of it carries as correlation.
    package let id: String
    package private(set) var messages: [TracedMessage] = []
    /// How many more there are.
    package private(set) var dropped = 0
    /// The sessions' platforms on which a guard waits for the answer to a message of this story.
    private var waiting: Set<[String]> = []

    package init(id: String) {
        self.id = id
    }

    /// - Returns: whether it is a message of this story.
    @discardableResult
    package mutating func take(_ message: Envelope) -> Bool {
        noteGuard(message)
        guard message.attributes.correlationID == id else { return false }
        if messages.count < Self.limit {
            messages.append(TracedMessage(message))
        } else {
            dropped += 1
        }
        return true
    }

    /// The W3C traces of its messages: one, unless a stranger began another.
    package var traces: [String] {
        var seen: Set<String> = []
        return messages.compactMap(\.trace).filter { seen.insert($0).inserted }
    }

    package var tree: TraceTree { TraceTree(messages) }

    /// Whether more is to be expected, however long it takes.
    package var isPending: Bool { !waiting.isEmpty }

    private mutating func noteGuard(_ message: Envelope) {
        guard message.type == Document.NavigationState.type, let platform = message.attributes.key else { return }
        let attempt = try? message.decode(Document.NavigationState.self).snapshot.state.attempt
        if let attempt, messages.contains(where: { $0.id == attempt.message.id }) {
            waiting.insert([message.subject, platform])
        } else {
            waiting.remove([message.subject, platform])
        }
    }
}
