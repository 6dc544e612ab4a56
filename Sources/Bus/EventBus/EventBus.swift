/// Publish and subscribe, with a memory: what every transport offers and all else is built on.
///
/// A bus works while ``run()`` does; every task it needs is a child of that call.
public protocol EventBus: Sendable {
    /// The CloudEvents source of what this process publishes: `name/instance`.
    var source: String { get }

    /// Appends a batch, all or nothing. Returns once it is journalled: from then on nothing loses it.
    /// - Returns: the position of the last message, or the journal's end for an empty batch.
    /// - Throws: ``BusError``: `fenced` if the checkpoint's claim is not the newest, `refused` if a message is not acceptable.
    @discardableResult
    func publish(_ batch: Batch) async throws -> Position

    /// Subscribes for as long as `body` runs. The subscription is live before `body` begins: whatever is published from
    /// then on arrives.
    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result

    /// The retained documents that match, oldest first.
    func documents(matching filters: [MessageFilter]) async throws -> [Envelope]

    /// Takes a durable consumer over from whoever had it.
    func claim(consumer: String) async throws -> ConsumerClaim

    /// Drives the bus until the task is cancelled.
    func run() async throws
}
