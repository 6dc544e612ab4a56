internal import Contracts
package import EventBus
internal import Foundation

extension EventBus {
    /// Publishes a navigation state of a platform, as a coordinator does for a session that stands.
    package func beginSession(_ subject: String = Session.default, on platform: String = "ios") async throws {
        var attributes = Attributes(type: Document.NavigationState.type, source: "coordinator/1", subject: subject)
        attributes.key = platform
        try await publish(Batch([Envelope(attributes: attributes, data: Data("{}".utf8))]))
    }

    /// Ends a session as a coordinator does: publishes the event, and withdraws the navigation state of a platform.
    @discardableResult
    package func endSession(
        _ subject: String = Session.default, on platform: String = "ios"
    ) async throws -> Envelope {
        var ended = try Envelope(DomainEvent.SessionEnded(), source: source, subject: subject)
        ended.position = try await publish(Batch([ended]))
        let withdrawal = Envelope.withdrawal(
            Document.NavigationState.type, key: platform, source: "coordinator/1", causedBy: ended.attributes)
        try await publish(Batch([withdrawal]))
        return ended
    }
}
