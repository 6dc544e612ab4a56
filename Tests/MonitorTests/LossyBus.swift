import EventBus
import RuntimeTestSupport

/// A bus whose feed drops messages, as it says before the first that arrives.
struct LossyBus: ForwardingBus {
    let bus: any EventBus
    let notices: [SubscriptionNotice]

    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        for notice in notices { onNotice?(notice) }
        return try await bus.withSubscription(to: filters, from: start, until: end, onNotice: onNotice, body)
    }
}
