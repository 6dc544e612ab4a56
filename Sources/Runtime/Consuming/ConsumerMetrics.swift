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
        /// The number of times that the consumer has become idle.
        var turns = 0
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

    /// The names of the consumers that have started, in alphabetical order.
    package var consumers: [String] { state.withLock { $0.consumers.keys.sorted() } }

    /// The largest lag of the process's consumers: the number of offsets from the consumer's position to the newest
    /// message that its filters match. 0 if all consumers have handled all their messages.
    /// - Throws: ``BusError``.
    package func lag(on bus: any EventBus) async throws -> UInt64 {
        var lag: UInt64 = 0
        for (name, before) in state.withLock(\.consumers) {
            let newest = try await bus.newest(matching: before.filters)
            guard let after = state.withLock({ $0.consumers[name] }) else { continue }
            // A consumer that was idle during the whole query has handled all messages that it received. The newest
            // message may have a higher offset, for example because another member handles it.
            if after.isIdle, after.turns == before.turns { continue }
            let isSameJournal = after.position.epoch == newest.epoch
            let handled = isSameJournal ? min(after.position.offset, newest.offset) : 0
            lag = max(lag, newest.offset - handled)
        }
        return lag
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
            if count == 0, !consumer.isIdle { consumer.turns += 1 }
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
