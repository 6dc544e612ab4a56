import Foundation
import Testing

@testable import Compose

@Suite("Supervisor: restarting and stopping")
struct SupervisorStopTests {
    @Test("A service that crashes is restarted, and must become ready again")
    func crash() async throws {
        let scratch = try Scratch()
        var service = Service.shell("a", "\(Service.notify("READY=1")); \(Service.forever)")
        service.readiness = .notify(timeout: nil)
        service.restart = .onFailure(limit: nil)
        try await scratch.supervisor(scratch.stack([service])).running { supervisor in
            let first = try await supervisor.wait(for: "a") { $0.state == .ready }
            kill(try #require(first.pid), SIGKILL)
            let second = try await supervisor.wait(for: "a") { $0.state == .ready && $0.restarts == 1 }
            #expect(second.pid != first.pid)
            #expect(second.signal == SIGKILL)
        }
    }

    @Test(
        "The limit of restarts is kept, and 'on-failure' does not restart after a success or an invalid configuration")
    func limit() async throws {
        let scratch = try Scratch()
        var failing = Service.shell("failing", "echo x >> runs; exit 7")
        failing.restart = .onFailure(limit: 2)
        var succeeding = Service.shell("succeeding", "exit 0")
        succeeding.restart = .onFailure(limit: nil)
        var misconfigured = Service.shell("misconfigured", "exit 78")
        misconfigured.restart = .onFailure(limit: nil)
        var unaccepted = Service.shell("unaccepted", "exit 77")
        unaccepted.restart = .onFailure(limit: nil)
        let supervisor = try scratch.supervisor(scratch.stack([failing, succeeding, misconfigured, unaccepted]))
        try await within("the end of all") { try await supervisor.run() }
        #expect(try scratch.read("runs") == "x\nx\nx\n")
        #expect(supervisor.status["failing"]?.exitCode == 7)
        #expect(supervisor.status["failing"]?.restarts == 2)
        #expect(supervisor.status["succeeding"]?.restarts == 0)
        #expect(supervisor.status["misconfigured"]?.restarts == 0)
        #expect(supervisor.status["misconfigured"]?.exitCode == 78)
        #expect(supervisor.status["unaccepted"]?.restarts == 0)
    }

    @Test("A service whose leader has ended is not stopped until its children have ended")
    func grandchild() async throws {
        let scratch = try Scratch()
        // The child has a process group of its own, as under a shell with job control.
        let script = "pipe R, W; if (fork) { close W; print <R>; exit 0 } setpgrp; print W $$; close W; sleep 1000"
        let service = Service(name: "a", command: ["perl", "-e", script])
        let supervisor = try scratch.supervisor(scratch.stack([service]))
        try await within("the end of the service") { try await supervisor.run() }
        #expect(supervisor.status["a"]?.exitCode == 0)
        let lines = try scratch.project().logs()
        let line = try #require(await lines.first { _ in true })
        let child = try #require(pid_t(line.text))
        #expect(ProcessTable.entry(of: child)?.isAlive != true)
    }

    @Test("A service that ignores SIGTERM is killed after the grace period, with all its children")
    func ignoresSignal() async throws {
        let scratch = try Scratch()
        var service = Service.shell("a", "trap '' TERM; sleep 1000 & \(Service.notify("READY=1")); wait")
        service.stopGracePeriod = .milliseconds(200)
        let supervisor = try scratch.supervisor(scratch.stack([service]))
        let session = try await supervisor.running { supervisor in
            ProcessSession(id: try #require(await supervisor.wait(for: "a") { $0.state == .ready }.pid))
        }
        #expect(supervisor.status["a"]?.signal == SIGKILL)
        #expect(await session.members.isEmpty)
    }

    @Test("A second request to stop ends the grace periods at once")
    func secondStop() async throws {
        let scratch = try Scratch()
        var service = Service.shell("a", "trap '' TERM; \(Service.notify("READY=1")); while :; do sleep 1000; done")
        service.stopGracePeriod = .seconds(3600)
        let supervisor = try scratch.supervisor(scratch.stack([service]))
        try await supervisor.running { supervisor in
            try await supervisor.wait(for: "a") { $0.state == .ready }
            supervisor.stop()
            try await supervisor.wait(for: "a") { $0.state == .stopping }
        }
        #expect(supervisor.status["a"]?.signal == SIGKILL)
    }

    @Test("Services stop before their dependencies, with their own signals")
    func reverseOrder() async throws {
        let scratch = try Scratch()
        func service(_ name: String, after: [Dependency] = []) -> Service {
            let script =
                "trap 'echo \(name) >> order; kill $!; exit 0' INT; \(Service.notify("READY=1")); sleep 1000 & wait"
            var service = Service.shell(name, script, after: after)
            service.stopSignal = StopSignal(number: SIGINT)
            return service
        }
        let stack = scratch.stack([
            service("a"),
            service("b", after: [Dependency(on: "a", condition: .healthy)]),
            service("c", after: [Dependency(on: "b", condition: .healthy)]),
        ])
        try await scratch.supervisor(stack).running { try await $0.wait(for: "c") { $0.state == .ready } }
        #expect(try scratch.read("order") == "c\nb\na\n")
    }

    @Test("A cancelled run stops all services in order and leaves no socket")
    func cancellation() async throws {
        let scratch = try Scratch()
        let script = "trap 'echo bye > farewell; kill $!; exit 0' TERM; \(Service.notify("READY=1")); sleep 1000 & wait"
        let supervisor = try scratch.supervisor(scratch.stack([.shell("a", script)]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await supervisor.run() }
            try await supervisor.wait(for: "a") { $0.state == .ready }
            #expect(FileManager.default.fileExists(atPath: scratch.runtimeRoot + "/test/notify/a"))
            group.cancelAll()
        }
        #expect(try scratch.read("farewell") == "bye\n")
        #expect(!FileManager.default.fileExists(atPath: scratch.runtimeRoot + "/test"))
        #expect(supervisor.status.phase == .stopped)
    }

    @Test("A service's own restart delay is kept, and starts again after each good run")
    func ownBackoff() async throws {
        let scratch = try Scratch()
        var service = Service.shell("a", "exit 1")
        service.restart = .always(limit: nil)
        // If the runs did not count as good runs, the last pause would take minutes. Each pause of the supervisor's own
        // backoff would take an hour.
        service.backoff = RestartBackoff(initial: .milliseconds(1), maximum: .seconds(3600), resetAfter: .zero)
        var options = SupervisorOptions.test
        options.backoff = RestartBackoff(initial: .seconds(3600), maximum: .seconds(3600))
        try await scratch.supervisor(scratch.stack([service]), options: options).running { supervisor in
            try await supervisor.wait(for: "a") { $0.restarts == 20 }
        }
    }

    @Test("The delays between restarts grow up to a limit")
    func backoff() {
        let backoff = RestartBackoff(initial: .milliseconds(100), maximum: .seconds(1))
        let delays = [0, 1, 2, 3, 4, 1000].map(backoff.delay)
        #expect(delays == [100, 200, 400, 800, 1000, 1000].map { Duration.milliseconds($0) })
    }
}
