internal import BusProtocol
internal import EventBus

/// A subscription that the broker has not confirmed.
struct PendingSubscription {
    let prefixes: [String]
    let start: FeedTracker.Start
    let claim: ConsumerClaim?
    let continuation: CheckedContinuation<Int, any Error>
}
