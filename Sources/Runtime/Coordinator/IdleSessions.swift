internal import Contracts
internal import EventBus
internal import Foundation
internal import Navigation

/// Ends the sessions of one platform that have received no message for some time.
///
/// The bus returns documents in the order in which they were published, so the sessions that were idle for the longest
/// time come first, and the others are not read. A coordinator publishes the state of a session again if it receives a
/// message that does not change the state, and the document is older than ``renewal``.
struct IdleSessions: Sendable {
    /// The time without a message after which a session ends. The session ends at most a tenth later, plus the time
    /// between two searches.
    let limit: Duration

    private static let pageCount = 256

    /// The age of a document above which a message renews it.
    var renewal: TimeInterval { limit / .seconds(1) / 10 }

    /// The time between two searches.
    var pause: Duration { max(limit / 10, .milliseconds(100)) }

    /// The states whose sessions were ended and that the last search still found: no coordinator has handled the event.
    private var ended: Set<String> = []

    init(limit: Duration) {
        self.limit = limit
    }

    /// Publishes `event.SessionEnded`, once, for the idle sessions among those whose partition this coordinator owns.
    mutating func end(of flow: Flow, on bus: EventBus, at now: Date, isOwn: (Partition) -> Bool) async throws {
        let states: [MessageFilter] = [.type(Document.NavigationState.self)]
        let oldest = now - limit / .seconds(1) - renewal
        var found: Set<String> = []
        var offset: UInt64 = 0
        search: while true {
            let page = try await bus.documents(matching: states, after: offset, limit: Self.pageCount)
            for document in page {
                guard document.attributes.time < oldest else { break search }
                guard document.attributes.key == flow.platform, isOwn(document.partition) else { continue }
                guard try await !isUsed(document.subject, since: oldest, bus) else { continue }
                if ended.contains(document.id) {
                    found.insert(document.id)
                    continue
                }
                let id = DerivedID.make(from: document.id, platform: flow.platform, name: "idle")
                let end = try Envelope(
                    DomainEvent.SessionEnded(), source: bus.source, causedBy: document.attributes,
                    origin: Origin(platform: flow.platform), id: id)
                try await bus.publish(Batch([end]))
                found.insert(document.id)
                ended.insert(document.id)
            }
            guard page.count == Self.pageCount, let last = page.last?.position?.offset else { break }
            offset = last
        }
        ended = found
    }

    /// True if the session has a newer state on any platform.
    private func isUsed(_ session: String, since oldest: Date, _ bus: EventBus) async throws -> Bool {
        try await bus.documents(matching: [.type(Document.NavigationState.self, subject: session)])
            .contains { $0.attributes.time >= oldest }
    }
}
