import Foundation
import Testing

@testable import Compose

@Suite("Watchdog")
struct WatchdogTests {
    /// Sends what it is told to, then `WATCHDOG=1` as often as asked, from one process.
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

    @Test("A process that stands still is replaced, and the reason is told")
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

    @Test("A service that was never asked to need not send anything; one that says that it hangs is replaced")
    func trigger() async throws {
        let scratch = try Scratch()
        let service = Self.beating("READY=1\\nWATCHDOG=trigger", every: 1000)
        try await scratch.supervisor(scratch.stack([service])).running { supervisor in
            let again = try await supervisor.wait(for: "a") { $0.restarts > 0 && $0.fault != nil }
            #expect(again.fault == "says that it hangs")
        }
    }

    @Test("A process that stands still when it is asked to stop does so all the same")
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
