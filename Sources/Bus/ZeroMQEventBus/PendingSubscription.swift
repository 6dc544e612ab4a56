internal import BusProtocol
internal import EventBus

/// A subscription that the broker has not confirmed.
struct PendingSubscription {
    let prefixes: [String]
    let start: FeedTracker.Start
    /// Behind this the messages end; nil for never.
    let end: Position?
    let claim: ConsumerClaim?
    let progress: ConsumerProgress?
    let onNotice: (@Sendable (SubscriptionNotice) -> Void)?
    let continuation: CheckedContinuation<Int, any Error>
}
