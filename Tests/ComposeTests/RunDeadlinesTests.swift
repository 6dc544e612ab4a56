import Glibc
import Testing

@testable import Compose

@Suite("Deadlines of a run, without processes")
struct RunDeadlinesTests {
    private let begin = SuspendingClock.now

    private func at(_ seconds: Double) -> SuspendingClock.Instant { begin + .seconds(seconds) }

    private func deadlines(start: Double? = nil, watchdog: Duration? = nil) -> RunDeadlines {
        RunDeadlines(start: start.map(at), timeout: .seconds(start ?? 0), watchdog: watchdog, now: begin)
    }

    private func message(_ text: String) -> NotifyMessage { NotifyMessage(Array(text.utf8)) }

    @Test("A service that is not ready in time is at fault, one that is ready never again")
    func start() {
        var deadlines = deadlines(start: 3)
        #expect(deadlines.next == at(3))
        #expect(deadlines.fault(of: .starting, at: at(2.9)) == nil)
        #expect(deadlines.fault(of: .starting, at: at(3)) == .notReady(within: .seconds(3)))
        #expect(deadlines.fault(of: .ready, at: at(3)) == nil)
        #expect(deadlines.next == nil)
    }

    @Test("EXTEND_TIMEOUT_USEC gives it more time, and never less")
    func moreTime() {
        var deadlines = deadlines(start: 3)
        deadlines.take(message("EXTEND_TIMEOUT_USEC=1000"), at: at(1))
        #expect(deadlines.next == at(3))
        deadlines.take(message("EXTEND_TIMEOUT_USEC=5000000"), at: at(2))
        #expect(deadlines.next == at(7))
        deadlines.take(message("EXTEND_TIMEOUT_USEC=99999999999999999999"), at: at(2))
        #expect(deadlines.next == at(7))
    }

    @Test("Once ready, a service must send WATCHDOG=1 in time")
    func watchdog() {
        var deadlines = deadlines(start: 60, watchdog: .seconds(10))
        #expect(deadlines.fault(of: .starting, at: at(10)) == nil, "while it starts it need not")
        deadlines.take(message("READY=1"), at: at(12))
        #expect(deadlines.fault(of: .ready, at: at(21.9)) == nil)
        deadlines.take(message("STATUS=busy\nWATCHDOG=1"), at: at(20))
        #expect(deadlines.fault(of: .ready, at: at(29)) == nil)
        #expect(deadlines.next == at(30))
        let fault = deadlines.fault(of: .ready, at: at(30))
        #expect(fault?.signal?.number == SIGABRT)
        #expect(fault?.description == "sent no WATCHDOG=1 for 10.0 seconds")
        #expect(deadlines.fault(of: .stopping, at: at(30)) == nil, "nor when it stops")
    }

    @Test("A service may say itself that it hangs")
    func trigger() {
        var deadlines = deadlines()
        deadlines.take(message("WATCHDOG=trigger"), at: at(1))
        #expect(deadlines.fault(of: .ready, at: at(1))?.signal?.number == SIGABRT)
    }

    @Test("Without a watchdog there is nothing to wait for")
    func none() {
        var deadlines = deadlines()
        deadlines.take(message("WATCHDOG=1"), at: at(1))
        #expect(deadlines.next == nil)
        #expect(deadlines.fault(of: .running, at: at(1_000_000)) == nil)
    }
}
