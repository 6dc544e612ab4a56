package import EventBus
internal import Synchronization

/// What the durable consumers of a process have done since its start. They share it, and the process's presence shows it.
public final class ConsumerMetrics: Sendable {
    private struct Consumer {
        var filters: [MessageFilter]
        /// Everything that concerns the consumer is handled up to here.
        var position: Position
        /// Whether no message is at hand.
        var isIdle = true
        /// How often it has become idle.
        var turns = 0
    }

    private struct State {
        var handled = 0
        var failed = 0
        var consumers: [String: Consumer] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    /// How many messages were handled.
    public var handled: Int { state.withLock(\.handled) }
    /// How many messages were given up and are dead letters.
    public var failed: Int { state.withLock(\.failed) }

    /// The names of the consumers that have begun, in alphabetical order.
    package var consumers: [String] { state.withLock { $0.consumers.keys.sorted() } }

    /// How many offsets the consumer that is farthest behind is from the newest message of its types; 0 when all have
    /// handled what there is.
    /// - Throws: ``BusError``.
    package func lag(on bus: any EventBus) async throws -> UInt64 {
        var lag: UInt64 = 0
        for (name, before) in state.withLock(\.consumers) {
            let newest = try await bus.newest(matching: before.filters)
            guard let after = state.withLock({ $0.consumers[name] }) else { continue }
            // A consumer that is idle all the time that the question takes has nothing left to handle. The newest message may
            // have a higher offset: it is handled by another member then.
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
    ///   - count: of messages that are at hand.
    ///   - offset: everything is handled up to here.
    func update(_ name: String, unfinished count: Int, settled offset: UInt64) {
        state.withLock { state in
            guard var consumer = state.consumers[name] else { return }
            consumer.position = Position(epoch: consumer.position.epoch, offset: offset)
            if count == 0, !consumer.isIdle { consumer.turns += 1 }
            consumer.isIdle = count == 0
            state.consumers[name] = consumer
        }
    }

    /// Counts a message that is finished.
    func count(hasFailed: Bool) {
        state.withLock { state in
            if hasFailed { state.failed += 1 } else { state.handled += 1 }
        }
    }
}
