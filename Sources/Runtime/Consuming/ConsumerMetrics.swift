package import EventBus
internal import Synchronization

/// The counts and the progress of all durable consumers of a process since its start.
public final class ConsumerMetrics: Sendable {
    private struct Consumer {
        var filters: [MessageFilter]
        /// The position up to which every message for the consumer is handled.
        var position: Position
        /// True if the consumer has no unfinished message.
        var isIdle = true
    }

    private struct State {
        var handled = 0
        var failed = 0
        var consumers: [String: Consumer] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    /// The number of messages that were handled.
    public var handled: Int { state.withLock(\.handled) }
    /// The number of messages that were given up and moved to the dead letters.
    public var failed: Int { state.withLock(\.failed) }

    /// The largest lag of the process's consumers: the number of messages after the consumer's position that its
    /// filters match. It includes messages that other members of the consumer handle. 0 if all consumers have handled
    /// all their messages. A bus counts up to 10,000.
    /// - Throws: ``BusError``.
    package func lag(on bus: EventBus) async throws -> UInt64 {
        var largest: UInt64 = 0
        // A consumer that is idle has handled all messages that it received. There may be others after its position,
        // for example because another member handles them.
        for (name, consumer) in state.withLock(\.consumers) where !consumer.isIdle {
            let lag = try await bus.inspect.lag(after: consumer.position, matching: consumer.filters)
            let isIdle = state.withLock { $0.consumers[name]?.isIdle ?? true }
            if !isIdle { largest = max(largest, lag) }
        }
        return largest
    }

    func began(_ claim: ConsumerClaim, _ filters: [MessageFilter]) {
        state.withLock { $0.consumers[claim.consumer] = Consumer(filters: filters, position: claim.position) }
    }

    /// - Parameters:
    ///   - count: the number of unfinished messages.
    ///   - offset: the offset up to which every message is handled.
    func update(_ name: String, unfinished count: Int, settled offset: UInt64) {
        state.withLock { state in
            guard var consumer = state.consumers[name] else { return }
            consumer.position = Position(epoch: consumer.position.epoch, offset: offset)
            consumer.isIdle = count == 0
            state.consumers[name] = consumer
        }
    }

    /// Counts a message that is finished: as failed if it was given up, else as handled.
    func count(hasFailed: Bool) {
        state.withLock { state in
            if hasFailed { state.failed += 1 } else { state.handled += 1 }
        }
    }
}
