import Foundation
import Testing

@testable import Compose

@Suite("Supervisor: requests")
struct SupervisorRequestTests {
    /// A service that writes to the file `order` when it begins and when it is asked to end.
    private static func told(_ name: String, after dependencies: [Dependency] = []) -> Service {
        let script = """
            trap 'echo -\(name) >> order; kill $!; exit 0' TERM
            echo +\(name) >> order; \(Service.notify("READY=1")); sleep 1000 & wait
            """
        var service = Service.shell(name, script, after: dependencies)
        service.readiness = .notify(timeout: nil)
        return service
    }

    private static func chain(_ scratch: Scratch) -> Stack {
        scratch.stack([
            told("c", after: [Dependency(on: "b", condition: .healthy, restarts: true)]),
            told("b", after: [Dependency(on: "a", condition: .healthy)]),
            told("a"),
        ])
    }

    @Test("An 'up' with a changed stack changes only what differs, and all other services keep their processes")
    func upAgain() async throws {
        let scratch = try Scratch()
        var stack = Self.chain(scratch)
        stack.services.append(.shell("gone", Service.forever))
        var changed = stack
        changed.services[1].environment["LEVEL"] = "debug"
        changed.services[3] = .shell("new", Service.forever)
        let request = ControlRequest.up(UpRequest(stack: changed))
        try await scratch.supervisor(stack).running { supervisor in
            let before = try await supervisor.wait { $0.phase == .up }
            try await supervisor.perform(request)
            let after = try await supervisor.wait { status in
                status["gone"] == nil && status.services.allSatisfy(\.isUp)
            }
            #expect(after["a"]?.pid == before["a"]?.pid)
            #expect(after["b"]?.pid != before["b"]?.pid, "its definition has changed")
            #expect(after["c"]?.pid != before["c"]?.pid, "it restarts with what it depends on")
            #expect(after["new"]?.state == .running)
            #expect(before["gone"]?.process?.isAlive == false)
        }
        #expect(try scratch.read("order") == "+a\n+b\n+c\n-c\n-b\n+b\n+c\n-c\n-b\n-a\n")
    }

    @Test("A restart of several services ends dependents first and starts them last, and keeps the others")
    func restartInOrder() async throws {
        let scratch = try Scratch()
        try await scratch.supervisor(Self.chain(scratch)).running { supervisor in
            let before = try await supervisor.wait { $0.phase == .up }
            try await supervisor.perform(.restart(services: ["a", "c"], followed: true, grace: nil))
            let after = try await supervisor.wait { $0.services.allSatisfy(\.isUp) }
            #expect(after["b"]?.pid == before["b"]?.pid)
            #expect(after["a"]?.restarts == 0, "on request is not by policy")
        }
        #expect(try scratch.read("order").hasPrefix("+a\n+b\n+c\n-c\n-a\n+a\n+c\n"))
    }

    @Test(
        "A service that was stopped stays stopped, whatever its policy is, until it is started again",
        arguments: [RestartPolicy.always(), .unlessStopped])
    func staysStopped(policy: RestartPolicy) async throws {
        let scratch = try Scratch()
        var restless = Service.shell("restless", "exit 1")
        var running = Service.shell("running", Service.forever)
        (restless.restart, running.restart) = (policy, policy)
        try await scratch.supervisor(scratch.stack([restless, running])).running { supervisor in
            try await supervisor.wait { $0["restless"]?.restarts ?? 0 > 1 && $0["running"]?.state == .running }
            try await supervisor.perform(.stop(services: [], grace: nil))
            let stopped = try await supervisor.wait { $0.services.allSatisfy { $0.state == .exited } }
            // If `restless` were still restarted, this would happen before the service that is requested next has
            // started.
            try await supervisor.perform(.start(services: ["running"]))
            let after = try await supervisor.wait(for: "running") { $0.isUp }
            #expect(after.round == 2)
            #expect(supervisor.status["restless"] == stopped["restless"])
            try await supervisor.perform(.start(services: ["restless"]))
            try await supervisor.wait(for: "restless") { $0.round == 2 && $0.restarts > 2 }
        }
    }

    @Test("Replicas are separate processes, and scaling keeps those that stay")
    func replicas() async throws {
        let scratch = try Scratch()
        let script = "echo $SEGUE_SERVICE/$SEGUE_REPLICA ${NOTIFY_SOCKET##*/} >> told"
        var web = Service.shell("web", "\(script); \(Service.notify("READY=1")); \(Service.forever)")
        web.readiness = .notify(timeout: nil)
        web.replicas = 2
        let last = Service.shell("last", Service.forever, after: [Dependency(on: "web")])
        try await scratch.supervisor(scratch.stack([web, last])).running { supervisor in
            let two = try await supervisor.wait { $0.phase == .up && $0["last"]?.state == .running }
            try await supervisor.perform(.scale(["web": 3]))
            let three = try await supervisor.wait(for: "web-3") { $0.isUp }
            try await supervisor.perform(.scale(["web": 1]))
            let one = try await supervisor.wait { $0["web-3"] == nil && $0["web-2"] == nil }
            #expect(one["web-1"]?.pid == two["web-1"]?.pid)
            #expect(three.process?.isAlive == false)
            #expect(one["last"]?.pid == two["last"]?.pid)
        }
        #expect(
            Set(try scratch.read("told").split(separator: "\n"))
                == ["web/1 web-1", "web/2 web-2", "web/3 web-3"])
    }

    @Test("A stop without a grace period kills at once, even a service that is already stopping")
    func noGrace() async throws {
        let scratch = try Scratch()
        var service = Service.shell("a", "trap '' TERM; \(Service.notify("READY=1")); while :; do sleep 1000; done")
        service.readiness = .notify(timeout: nil)
        service.stopGracePeriod = .seconds(3600)
        try await scratch.supervisor(scratch.stack([service])).running { supervisor in
            try await supervisor.wait(for: "a") { $0.state == .ready }
            try await supervisor.perform(.stop(services: [], grace: nil))
            try await supervisor.wait(for: "a") { $0.state == .stopping }
            try await supervisor.perform(.stop(services: [], grace: .zero))
            let ended = try await supervisor.wait(for: "a") { $0.state == .exited }
            #expect(ended.signal == SIGKILL)
            try await supervisor.perform(.start(services: []))
            let again = try await supervisor.wait(for: "a") { $0.state == .ready }
            #expect(again.order.grace == nil, "what was granted once is not for later")
            try await supervisor.perform(.stop(services: [], grace: .zero))
            try await supervisor.wait(for: "a") { $0.state == .exited }
        }
    }

    @Test("A signal is sent to the leader of each process, and the restart policy decides what follows")
    func kill() async throws {
        let scratch = try Scratch()
        var service = Service.shell(
            "a", "trap 'echo hup >> told; exit 3' HUP; \(Service.notify("READY=1")); sleep 1000 & wait")
        service.readiness = .notify(timeout: nil)
        service.restart = .onFailure(limit: nil)
        try await scratch.supervisor(scratch.stack([service])).running { supervisor in
            try await supervisor.wait(for: "a") { $0.state == .ready }
            try await supervisor.perform(.kill(services: ["a"], signal: SIGHUP))
            let again = try await supervisor.wait(for: "a") { $0.state == .ready && $0.restarts == 1 }
            #expect(again.exitCode == 3)
        }
        #expect(try scratch.read("told") == "hup\n")
    }

    @Test("A service that fails later fails alone, or stops all services if the run is to abort")
    func abortOnFailure() async throws {
        let scratch = try Scratch()
        let stack = scratch.stack([.shell("a", "exit 3"), .shell("b", Service.forever)])
        try await scratch.supervisor(stack).running { supervisor in
            try await supervisor.wait { $0.phase == .up && $0["a"]?.state == .exited && $0["b"]?.state == .running }
        }
        var options = SupervisorOptions.test
        options.failures.aborts = true
        let supervisor = try scratch.supervisor(stack, options: options)
        let error = try await #require(throws: ComposeError.self) {
            try await within("the end of all") { try await supervisor.run() }
        }
        #expect(error.message == "service 'a' exited with status 3")
    }

    @Test("A service that ends during a requested stop does not end the supervisor, but a removal of all does")
    func lives() async throws {
        let scratch = try Scratch()
        let stack = scratch.stack([.shell("stopped", Service.forever), .shell("job", "read line < go; exit 0")])
        #expect(mkfifo(scratch.path + "/go", 0o600) == 0)
        let supervisor = try scratch.supervisor(stack)
        try await supervisor.running { supervisor in
            try await supervisor.wait { $0.phase == .up }
            try await supervisor.perform(.stop(services: ["stopped"], grace: nil))
            try await supervisor.wait(for: "stopped") { $0.state == .exited }
            try "\n".write(toFile: scratch.path + "/go", atomically: false, encoding: .utf8)
            try await supervisor.wait(for: "job") { $0.state == .exited }
            try await supervisor.perform(.start(services: ["stopped"]))
            try await supervisor.wait(for: "stopped") { $0.state == .running }
            try await supervisor.perform(.remove(services: [], grace: nil))
            try await supervisor.wait { $0.phase == .stopped }
        }
        #expect(supervisor.status.services.isEmpty)
    }
}
