import Synchronization
import SystemSupport
import Testing

@testable import NATS

@Suite(.timeLimit(.minutes(3)))
struct MailboxTests {
    private struct Late: Error {}

    private func withMailbox(_ body: (Mailbox<Int>) async throws -> Void) async throws {
        let thread = ExecutorThread(name: "mailbox")
        defer { thread.stop() }
        try await body(Mailbox<Int>(limit: 8, thread))
    }

    @Test func `An element that is handled at once does not end the wait, and a refused one does`() async throws {
        try await withMailbox { mailbox in
            let handled = Mutex<[Int]>([])
            #expect(mailbox.put(0))
            #expect(
                try await mailbox.next(handlingAtOnce: { _ in true }) == 0, "an element that waits goes to the reader")
            async let next = mailbox.next(handlingAtOnce: { element in
                guard element < 4 else { return false }
                handled.withLock { $0.append(element) }
                return true
            })
            // Until the reader waits, elements stay in the mailbox, and it would hand over the first one.
            while !mailbox.hasReader { await Task.yield() }
            for element in 1...4 { #expect(mailbox.put(element)) }
            #expect(mailbox.put(5))
            let refused = try await next
            #expect(refused == 4)
            #expect(handled.withLock(\.self) == [1, 2, 3])
            let last = try await mailbox.next(handlingAtOnce: { _ in true })
            #expect(last == 5)
        }
    }

    @Test func `The waiting time starts again with each element that is handled at once`() async throws {
        try await withMailbox { mailbox in
            // The test asks for the end of the wait itself: the real limit is far away.
            let timeout = Duration.seconds(3600)
            async let next = mailbox.next(timeout: timeout, late: { Late() }, handlingAtOnce: { $0 == 0 })
            while !mailbox.hasReader { await Task.yield() }
            let firstDeadline = ContinuousClock.now + timeout
            #expect(try #require(mailbox.expire(at: .now)) <= firstDeadline)
            mailbox.put(0)
            #expect(try #require(mailbox.expire(at: firstDeadline)) > firstDeadline)
            mailbox.put(1)
            let refused = try await next
            #expect(refused == 1)
            await #expect(throws: Late.self) {
                try await mailbox.next(timeout: .milliseconds(10), late: { Late() }, handlingAtOnce: { _ in true })
            }
        }
    }
}
