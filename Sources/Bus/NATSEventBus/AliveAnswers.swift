internal import EventBus
internal import Foundation
internal import NATS
internal import NATSLayout

/// The answers of this process to the question if it runs an exclusive member. They begin with ``run(in:)`` and end with
/// ``stop()``.
final class AliveAnswers: Sendable {
    private let member: UUID
    private let begun = Signal()
    private let stopping = Signal()
    private let ended = Signal()

    init(of member: UUID) {
        self.member = member
    }

    /// Answers until ``stop()``, or until the task is cancelled.
    func run(in journal: Journal) async {
        await withTaskGroup { group in
            group.addTask { await self.answer(in: journal) }
            group.addTask { await self.stopping.wait() }
            await group.next()
            group.cancelAll()
        }
        begun.send()
        ended.send()
    }

    private func answer(in journal: Journal) async {
        // Ends when the connection or the task ends. A user that may not subscribe is never reported as alive.
        try? await journal.connection.withSubscription(
            to: Self.subject(of: member, in: journal), limit: 64
        ) { subscription in
            // A subscription without a connection begins later.
            try await journal.retrying { try await journal.connection.roundTrip() }
            begun.send()
            while true {
                guard case .message(let message) = try await subscription.next(), let reply = message.reply else {
                    continue
                }
                try? journal.connection.publish(reply)
            }
        }
    }

    /// Waits until there are answers, or can be none.
    func waitUntilBegun() async { await begun.wait() }

    /// Ends the answers. Without ``run(in:)``, nothing waits for them any more.
    func stop() {
        stopping.send()
        begun.send()
    }

    /// Waits until there are no answers any more.
    func waitUntilEnded() async { await ended.wait() }

    private static func subject(of member: UUID, in journal: Journal) -> String {
        journal.subject(.queries(to: "member-\(member.uuidString)"))
    }

    /// True if a process runs this exclusive member, or may run it.
    static func isAlive(_ member: UUID, in journal: Journal) async throws -> Bool {
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

/// A signal that is sent once, and for which one task waits.
private struct Signal: Sendable {
    private let sent: AsyncStream<Never>
    private let sender: AsyncStream<Never>.Continuation

    init() { (sent, sender) = AsyncStream.makeStream() }

    func send() { sender.finish() }

    /// Returns when the signal was sent, or the task is cancelled.
    func wait() async { for await _ in sent {} }
}
