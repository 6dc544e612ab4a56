import Foundation
import Glibc
import Synchronization
import SystemSupport
import Testing

@testable import Compose

@Suite("Deadlines of a run")
struct RunDeadlinesTests {
    private let begin = SuspendingClock.now

    private func at(_ seconds: Double) -> SuspendingClock.Instant { begin + .seconds(seconds) }

    private func deadlines(start: Double? = nil, watchdog: Duration? = nil) -> RunDeadlines {
        RunDeadlines(start: start.map(at), timeout: .seconds(start ?? 0), watchdog: watchdog, now: begin)
    }

    private func message(_ text: String) -> NotifyMessage { NotifyMessage(Array(text.utf8)) }

    @Test("A service that is not ready in time is at fault, and a ready one is not")
    func start() {
        var deadlines = deadlines(start: 3)
        #expect(deadlines.next == at(3))
        #expect(deadlines.fault(of: .starting, at: at(2.9)) == nil)
        #expect(deadlines.fault(of: .starting, at: at(3)) == .notReady(within: .seconds(3)))
        #expect(deadlines.fault(of: .ready, at: at(3)) == nil)
        #expect(deadlines.next == nil)
    }

    @Test("EXTEND_TIMEOUT_USEC extends the deadline, and never shortens it")
    func moreTime() {
        var deadlines = deadlines(start: 3)
        deadlines.handle(message("EXTEND_TIMEOUT_USEC=1000"), at: at(1))
        #expect(deadlines.next == at(3))
        deadlines.handle(message("EXTEND_TIMEOUT_USEC=5000000"), at: at(2))
        #expect(deadlines.next == at(7))
        for nonsense in ["99999999999999999999", "-5000000", "soon"] {
            deadlines.handle(message("EXTEND_TIMEOUT_USEC=\(nonsense)"), at: at(6))
            #expect(deadlines.next == at(7))
        }
        deadlines.handle(message("EXTEND_TIMEOUT_USEC=9223372036854775807"), at: at(2))
        #expect(deadlines.next == at(86_402), "no more than a day")
    }

    @Test("A ready service must send WATCHDOG=1 in time")
    func watchdog() {
        var deadlines = deadlines(start: 60, watchdog: .seconds(10))
        #expect(deadlines.fault(of: .starting, at: at(10)) == nil, "while it starts it need not")
        deadlines.handle(message("READY=1"), at: at(12))
        #expect(deadlines.fault(of: .ready, at: at(21.9)) == nil)
        deadlines.handle(message("STATUS=busy\nWATCHDOG=1"), at: at(20))
        #expect(deadlines.fault(of: .ready, at: at(29)) == nil)
        #expect(deadlines.next == at(30))
        let fault = deadlines.fault(of: .ready, at: at(30))
        #expect(fault?.signal?.number == SIGABRT)
        #expect(fault?.description == "sent no WATCHDOG=1 for 10.0 seconds")
        #expect(deadlines.fault(of: .stopping, at: at(30)) == nil, "nor when it stops")
    }

    @Test("A service can report that it hangs")
    func trigger() {
        var deadlines = deadlines()
        deadlines.handle(message("WATCHDOG=trigger"), at: at(1))
        #expect(deadlines.fault(of: .ready, at: at(1))?.signal?.number == SIGABRT)
    }

    @Test("A service without a watchdog has no deadline")
    func none() {
        var deadlines = deadlines()
        deadlines.handle(message("WATCHDOG=1"), at: at(1))
        #expect(deadlines.next == nil)
        #expect(deadlines.fault(of: .running, at: at(1_000_000)) == nil)
    }
}

@Suite("Clock of the deadlines")
struct RunningClockTests {
    @Test("The clock does not count time in which it was not read")
    func pause() {
        let begin = SuspendingClock.now
        let real = Mutex(begin)
        let clock = RunningClock { real.withLock { $0 } }
        for (step, expected) in [(1.0, 1.0), (2, 3), (3600, 4), (0.5, 4.5), (2.5, 5.5), (0, 5.5)] {
            real.withLock { $0 += .seconds(step) }
            #expect(begin.duration(to: clock.now) == .seconds(expected), "\(step)")
        }
        let later = clock.now + .seconds(1)
        #expect(clock.suspending(later) == real.withLock { $0 } + .seconds(1))
    }

    @Test("A service that was ready has its whole time after a pause of the launcher")
    func watchdog() {
        let begin = SuspendingClock.now
        let real = Mutex(begin)
        let clock = RunningClock { real.withLock { $0 } }
        var deadlines = RunDeadlines(start: nil, timeout: .seconds(1), watchdog: .seconds(10), now: clock.now)
        for _ in 0..<8 {
            real.withLock { $0 += .seconds(1) }
            #expect(deadlines.fault(of: .ready, at: clock.now) == nil)
        }
        real.withLock { $0 += .seconds(86_400) }
        #expect(deadlines.fault(of: .ready, at: clock.now) == nil)
        real.withLock { $0 += .seconds(1) }
        #expect(deadlines.fault(of: .ready, at: clock.now) != nil)
    }
}

@Suite("Watchdog of the supervisor")
struct WatchdogTests {
    /// A service that sends `first`, and then `WATCHDOG=1` every `pause` seconds.
    private static func beating(_ first: String, every pause: Double) -> Service {
        let script = """
            use Socket; socket(S, PF_UNIX, SOCK_DGRAM, 0);
            my $to = pack_sockaddr_un($ENV{NOTIFY_SOCKET}); $| = 1;
            print "$ENV{WATCHDOG_USEC}\\n"; send(S, "\(first)", 0, $to);
            while (1) { select(undef, undef, undef, \(pause)); send(S, "WATCHDOG=1", 0, $to) }
            """
        var service = Service(name: "a", command: ["perl", "-e", script])
        service.readiness = .notify(timeout: nil)
        service.restart = .onFailure(limit: nil)
        return service
    }

    @Test("A process that hangs is replaced, and the reason is reported")
    func frozen() async throws {
        let scratch = try Scratch()
        var service = Self.beating("READY=1", every: 0.1)
        service.watchdog = .seconds(2)
        try await scratch.supervisor(scratch.stack([service])).running { supervisor in
            let first = try await supervisor.wait(for: "a") { $0.state == .ready }
            kill(try #require(first.pid), SIGSTOP)
            let ended = try await supervisor.wait(for: "a") { $0.fault != nil }
            #expect(ended.fault == "sent no WATCHDOG=1 for 2.0 seconds")
            let second = try await supervisor.wait(for: "a") { $0.state == .ready && $0.restarts == 1 }
            #expect(second.signal == SIGABRT)
            #expect(second.pid != first.pid && second.fault == nil)
        }
        let lines = try scratch.project().logs()
        #expect(await lines.first { _ in true }?.text == "2000000", "it learns how often it must write")
    }

    @Test("A service that reports a hang is replaced, and need not send signs of life")
    func trigger() async throws {
        let scratch = try Scratch()
        let service = Self.beating("READY=1\\nWATCHDOG=trigger", every: 1000)
        try await scratch.supervisor(scratch.stack([service])).running { supervisor in
            let again = try await supervisor.wait(for: "a") { $0.restarts > 0 && $0.fault != nil }
            #expect(again.fault == "reported that it hangs")
        }
    }

    @Test("A process that hangs can still be stopped")
    func stopped() async throws {
        let scratch = try Scratch()
        var service = Service.shell("a", Service.forever)
        service.stopGracePeriod = .seconds(3600)
        let supervisor = try scratch.supervisor(scratch.stack([service]))
        try await supervisor.running { supervisor in
            kill(try #require(await supervisor.wait(for: "a") { $0.pid != nil }.pid), SIGSTOP)
        }
        #expect(supervisor.status["a"]?.signal == SIGTERM)
    }
}
