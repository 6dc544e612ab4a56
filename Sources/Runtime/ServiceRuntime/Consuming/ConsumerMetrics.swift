package import EventBus
internal import Synchronization

/// What the durable consumers of a process have done since its start. They share it, and the process's presence shows it.
public final class ConsumerMetrics: Sendable {
    private struct Consumer {
        var filters: [MessageFilter]
        /// Everything that concerns the consumer is handled up to here.
        var position: Position
        var isWaiting = false
        /// How often it has waited for a message.
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
            // Who waits all the time that the question takes has nothing left to handle. The newest message may well have a
            // higher offset: it is handled by another member then.
            if after.isWaiting, after.turns == before.turns { continue }
            let isSameJournal = after.position.epoch == newest.epoch
            let handled = isSameJournal ? min(after.position.offset, newest.offset) : 0
            lag = max(lag, newest.offset - handled)
        }
        return lag
    }

    func began(_ claim: ConsumerClaim, _ filters: [MessageFilter]) {
        state.withLock { $0.consumers[claim.consumer] = Consumer(filters: filters, position: claim.position) }
    }

    func waits(_ consumer: String) {
        state.withLock { state in
            state.consumers[consumer]?.isWaiting = true
            state.consumers[consumer]?.turns += 1
        }
    }

    func took(_ consumer: String) {
        state.withLock { $0.consumers[consumer]?.isWaiting = false }
    }

    enum Outcome {
        case handled, failed
        /// The message was for another consumer.
        case passed
    }

    func record(_ outcome: Outcome, _ checkpoint: Checkpoint) {
        state.withLock { state in
            state.consumers[checkpoint.claim.consumer]?.position = checkpoint.position
            switch outcome {
            case .handled: state.handled += 1
            case .failed: state.failed += 1
            case .passed: break
            }
        }
    }
}
