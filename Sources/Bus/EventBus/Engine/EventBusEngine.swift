/// An engine of the bus: what carries the messages of an ``EventBus``.
///
/// Each engine implements all three roles. The suite `BusConformance` tests them.
package protocol EventBusEngine: MessagingEngine, InspectableEngine, ClaimingEngine {}

extension EventBusEngine {
    /// This engine as processes use it.
    package var bus: EventBus { EventBus(self) }
}

/// The part of an engine that every process needs. ``EventBus`` documents the calls that it passes on unchanged.
package protocol MessagingEngine: Sendable {
    /// See ``EventBus/source``.
    var source: String { get }

    /// The executor of the engine's own thread; nil for an engine without such a thread. Tasks that prefer this
    /// executor, and actors that run on it, receive messages without a change of threads. They must not block the
    /// thread.
    var taskExecutor: (any SerialExecutor & TaskExecutor)? { get }

    /// See ``EventBus/run()``.
    func run() async throws

    /// See ``EventBus/waitUntilConnected(timeout:)``.
    func waitUntilConnected(timeout: Duration) async throws

    /// See ``EventBus/maximumBatchSize()``.
    func maximumBatchSize() async throws -> Int

    /// Publishes a batch, either the whole batch or nothing. Returns when the journal has recorded the batch.
    /// - Returns: A position up to which the journal contains the whole batch: that of its last message; the other
    ///   messages have the positions directly before it. The offsets of two batches need not follow each other. For a
    ///   batch without messages, or one whose checkpoint is already recorded, the end of the journal.
    /// - Throws: ``BusError``: `refused` if the batch or a message is invalid, `closed` if the bus is closed, `journal`
    ///   if the journal cannot be written now, `fenced` if the claim of the checkpoint no longer owns its partition,
    ///   `unrecorded` if the checkpoint's predecessor is not recorded, `epoch` if the checkpoint is not a position of
    ///   this journal, `letter` if a dead letter to settle, or the message to give up, does not exist.
    @discardableResult
    func publish(_ batch: Batch) async throws -> Position

    /// See ``EventBus/publishTransient(_:)``.
    func publishTransient(_ messages: [Envelope]) async throws

    /// See ``EventBus/withSubscription(to:from:until:onNotice:_:)``.
    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result

    /// See ``EventBus/documents(matching:after:limit:)``.
    func documents(matching filters: [MessageFilter], after offset: UInt64, limit: Int) async throws -> [Envelope]

    /// See ``EventBus/document(_:subject:key:)``.
    func document(_ type: MessageType, subject: String, key: String?) async throws -> Envelope?

    /// See ``EventBus/ask(_:timeout:)``.
    func ask(_ query: Envelope, timeout: Duration) async throws -> Envelope

    /// See ``EventBus/serve(_:whenServing:_:)``.
    func serve(
        _ types: [MessageType], whenServing: @escaping @Sendable () -> Void,
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope
    ) async throws
}

extension MessagingEngine {
    package var taskExecutor: (any SerialExecutor & TaskExecutor)? { nil }

    package func waitUntilConnected(timeout: Duration) async throws {}

    package func maximumBatchSize() async throws -> Int { Limits.batchSize }
}

/// The part of an engine that tools read. ``BusInspection`` documents the calls.
package protocol InspectableEngine: Sendable {
    func end() async throws -> Position
    func newestOfEachType(matching filters: [MessageFilter]) async throws -> [MessageType: Position]
    func lag(after position: Position, matching filters: [MessageFilter]) async throws -> UInt64
    func position(_ position: Position, offsetBy distance: Int) async throws -> Position
    func consumers() async throws -> [DurableConsumer]
    func forget(consumer: String) async throws
    func deadLetters(of consumer: String?, after id: DeadLetter.ID, limit: Int) async throws -> [DeadLetter]
    func deadLetterSummaries(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter.Summary]
    func deadLetterCount(of consumer: String?) async throws -> Int
}

/// The partitions of durable consumers. The loop of a durable consumer, in the module `Consuming`, uses them.
package protocol ClaimingEngine: Sendable {
    /// Claims partitions of a durable consumer for a member. See ``ConsumerMode``.
    /// - Throws: ``BusError``: `fenced` if the member is exclusive and another one has taken over; `refused` if the
    ///   name is invalid, or if there are too many consumers or members.
    func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim

    /// Ends a membership in a durable consumer. The partitions of a shared member go to the other members, if there are
    /// any. An exclusive member keeps its partitions until another member claims them. This also works in a cancelled
    /// task.
    func leave(consumer: String, as member: ConsumerMember) async

    /// Subscribes to the messages of a claim that are not handled yet. The messages end when the claim may no longer be
    /// valid; then claim again.
    ///
    /// - Parameter progress: The oldest message that the reader has received and not finished. The reader must update
    ///   it before it asks for the next message. If it is nil, the reader must publish the checkpoint of a message
    ///   before it asks for the next one. While a reader waits, a bus may record that every message before the oldest
    ///   unfinished one is handled.
    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], under claim: ConsumerClaim, progress: ConsumerProgress?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result
}

extension ClaimingEngine {
    /// Runs `body` with a new member of a durable consumer. The member leaves when `body` ends.
    package func withMember<Result>(
        of consumer: String, _ mode: ConsumerMode, _ body: (ConsumerMember) async throws -> Result
    ) async throws -> Result {
        let member = ConsumerMember(mode)
        do {
            let result = try await body(member)
            await leave(consumer: consumer, as: member)
            return result
        } catch {
            await leave(consumer: consumer, as: member)
            throw error
        }
    }
}
