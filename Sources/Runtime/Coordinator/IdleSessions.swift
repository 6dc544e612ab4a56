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

    /// Publishes `event.SessionEnded` for the idle sessions among those whose partition this coordinator owns.
    func end(of flow: Flow, on bus: any EventBus, at now: Date, isOwn: (Partition) -> Bool) async throws {
        let states: [MessageFilter] = [.type(Document.NavigationState.self)]
        let oldest = now - limit / .seconds(1) - renewal
        var platforms: Set<String>?
        var offset: UInt64 = 0
        while true {
            let page = try await bus.documents(matching: states, after: offset, limit: Self.pageCount)
            for document in page {
                guard document.attributes.time < oldest else { return }
                guard document.attributes.key == flow.platform, isOwn(document.partition) else { continue }
                if platforms == nil {
                    let flows = try await bus.documents(matching: [.type(Document.Flow.self)])
                    platforms = Set(flows.compactMap(\.attributes.key)).subtracting([flow.platform])
                }
                guard try await !isUsed(document.subject, on: platforms ?? [], since: oldest, bus) else { continue }
                let id = DerivedID.make(from: document.id, platform: flow.platform, name: "idle")
                let end = try Envelope(
                    DomainEvent.SessionEnded(), source: bus.source, causedBy: document.attributes,
                    origin: Origin(platform: flow.platform), id: id)
                try await bus.publish(Batch([end]))
            }
            guard page.count == Self.pageCount, let last = page.last?.position?.offset else { return }
            offset = last
        }
    }

    /// True if the session has a newer state on another platform.
    private func isUsed(
        _ session: String, on platforms: Set<String>, since oldest: Date, _ bus: any EventBus
    ) async throws -> Bool {
        for platform in platforms {
            let state = try await bus.document(Document.NavigationState.type, subject: session, key: platform)
            if let state, state.attributes.time >= oldest { return true }
        }
        return false
    }
}
