internal import EventBus
internal import Foundation
internal import NATS
internal import NATSLayout
internal import Synchronization

/// The answers of this process to the question if it runs an exclusive member, from ``start()`` to ``stop()``.
final class AliveAnswers: Sendable {
    private struct State {
        var isStopped = false
        /// Nil before the subscription has begun.
        var subscription: HandledSubscription?
    }

    private let member: UUID
    private let journal: JournalConnection
    private let state = Mutex(State())

    init(of member: UUID, in journal: JournalConnection) {
        self.member = member
        self.journal = journal
    }

    /// Returns when other processes can ask. May be called again, for example after a cancelled call. The members of a
    /// user that may not subscribe are never reported as alive.
    func start() async throws {
        guard state.withLock({ $0.subscription == nil }) else { return }
        let subscription: HandledSubscription
        do {
            subscription = try await journal.connection.subscribe(to: Self.subject(of: member, in: journal)) {
                [weak self] message in self?.answer(message)
            }
        } catch let error as NATSError {
            throw journal.busError(error)
        }
        let isNeeded = state.withLock { state in
            guard !state.isStopped, state.subscription == nil else { return false }
            state.subscription = subscription
            return true
        }
        guard isNeeded else { return subscription.end() }
        // A subscription without a connection begins later.
        try await journal.retrying { try await journal.connection.roundTrip() }
    }

    private func answer(_ question: NATSMessage) {
        guard let reply = question.reply else { return }
        // Under the lock, so that none is sent after `stop()`. Sending does not wait.
        state.withLock { state in
            if !state.isStopped { try? journal.connection.publish(reply) }
        }
    }

    /// Ends the answers. None is sent after this call.
    func stop() {
        let subscription = state.withLock { state in
            state.isStopped = true
            return state.subscription
        }
        subscription?.end()
    }

    private static func subject(of member: UUID, in journal: JournalConnection) -> String {
        journal.subject(.queries(to: "member-\(member.uuidString)"))
    }

    /// True if a process runs this exclusive member, or may run it.
    static func isAlive(_ member: UUID, in journal: JournalConnection) async throws -> Bool {
        let subject = subject(of: member, in: journal)
        return try await journal.retrying {
            do {
                _ = try await journal.connection.request(subject, timeout: .seconds(2))
                return true
            } catch let error as NATSError where error.code == .noResponders {
                return false
            } catch let error as NATSError where error.code == .timeout {
                // A process that is stopped has a subscription and does not answer. It may continue.
                return true
            }
        }
    }
}
