import Foundation
import Glibc
import SystemSupport
import Testing

@testable import Compose

@Suite("Health state machine")
struct HealthStateTests {
    private static let probe = HealthProbe(
        command: ["true"], interval: .seconds(30), retries: 3, startPeriod: .seconds(10), startInterval: .seconds(1))

    @Test("A service is starting until its first check succeeds")
    func starting() {
        var state = HealthState(probe: Self.probe)
        #expect(state.health == ServiceHealth(state: .starting, failures: 0, reason: nil))
        state.apply(nil, at: .seconds(1))
        #expect(state.health.state == .healthy)
    }

    @Test("A failure in the start period does not count, but its reason is shown")
    func startPeriod() {
        var state = HealthState(probe: Self.probe)
        for age in 0..<10 { state.apply("no answer", at: .seconds(age)) }
        #expect(state.health == ServiceHealth(state: .starting, failures: 0, reason: "no answer"))
        for age in 10..<12 { state.apply("no answer", at: .seconds(age)) }
        #expect(state.health.state == .starting)
        state.apply("no answer at all", at: .seconds(12))
        #expect(state.health == ServiceHealth(state: .unhealthy, failures: 3, reason: "no answer at all"))
    }

    @Test("The first success ends the start period, and later failures count")
    func successWithinStartPeriod() {
        var state = HealthState(probe: Self.probe)
        state.apply(nil, at: .seconds(1))
        for age in 2..<5 { state.apply("gone", at: .seconds(age)) }
        #expect(state.health.state == .unhealthy)
    }

    @Test("A success resets the number of failures in a row, and the service is healthy again")
    func recovery() {
        var state = HealthState(probe: Self.probe)
        for failure in ["a", "b", nil, "c", "d"] { state.apply(failure, at: .seconds(60)) }
        #expect(state.health == ServiceHealth(state: .healthy, failures: 2, reason: "d"))
        state.apply("e", at: .seconds(60))
        #expect(state.health.state == .unhealthy)
        state.apply(nil, at: .seconds(60))
        #expect(state.health == ServiceHealth(state: .healthy, failures: 0, reason: nil))
    }

    @Test("Checks are more frequent while the service starts")
    func pauses() {
        var state = HealthState(probe: Self.probe)
        #expect(state.pause(at: .seconds(9)) == .seconds(1))
        #expect(state.pause(at: .seconds(10)) == .seconds(30))
        state.apply(nil, at: .seconds(1))
        #expect(state.pause(at: .seconds(2)) == .seconds(30))
    }

    @Test("At least one failure is needed for an unhealthy service", arguments: [-1, 0, 1])
    func retries(count: Int) {
        var probe = Self.probe
        probe.retries = count
        var state = HealthState(probe: probe)
        state.apply("no", at: .seconds(11))
        #expect(state.health.state == .unhealthy)
    }
}

@Suite("Health checks")
struct HealthTests {
    /// A check with short times and few retries.
    private func probe(_ script: String, retries: Int = 2, startPeriod: Duration = .zero) -> HealthProbe {
        HealthProbe(
            command: ["sh", "-c", script], interval: .milliseconds(20), timeout: .seconds(20), retries: retries,
            startPeriod: startPeriod, startInterval: .milliseconds(20))
    }

    private func service(_ probe: HealthProbe, name: String = "a", restart: RestartPolicy = .no) -> Service {
        var service = Service.shell(name, Service.forever)
        service.readiness = .probe(probe)
        service.restart = restart
        return service
    }

    @Test("A service is ready once its check succeeds, in its own folder and with its own variables")
    func healthy() async throws {
        let scratch = try Scratch()
        // The check fails until the file exists, however long that takes. It writes to a temporary file, because the
        // last check may be killed while it writes.
        var check = probe(
            """
            test -e ready && echo "$OWN $SEGUE_SERVICE $0 ${NOTIFY_SOCKET-none}" > new && mv new told
            """, retries: .max)
        guard case .command(let words) = check.test else { return }
        check.test = .command(words + ["${SEGUE_PROJECT}"])
        var first = service(check, name: "first")
        first.environment = ["OWN": "mine"]
        // The dependent starts only when `first` is healthy.
        let second = Service.shell(
            "second", "test -e ready && \(Service.forever)", after: [Dependency(on: "first", condition: .healthy)])
        try await scratch.supervisor(scratch.stack([first, second])).running { supervisor in
            let starting = try await supervisor.wait(for: "first") {
                $0.health?.reason != nil || $0.health?.failures == 1
            }
            #expect(starting.state == .starting)
            #expect(supervisor.status["second"]?.state == .created)
            _ = try scratch.write("", to: "ready")
            let status = try await supervisor.wait { $0.phase == .up }
            #expect(status["first"]?.state == .ready)
            #expect(status["first"]?.health == ServiceHealth(state: .healthy))
            #expect(status["second"]?.health == nil)
        }
        #expect(try scratch.read("told") == "mine first test none\n")
        #expect(try ProjectStatus.read(scratch.project())?["first"]?.health == nil, "nothing is healthy that is gone")
    }

    @Test("A service that never becomes healthy is an error with the check's last output")
    func neverHealthy() async throws {
        let scratch = try Scratch()
        let check = probe("echo one; echo 'connection refused' >&2; exit 3")
        let supervisor = try scratch.supervisor(scratch.stack([service(check, restart: .always())]))
        let error = try await #require(throws: ComposeError.self) {
            try await within("the end") { try await supervisor.run() }
        }
        #expect(error.code == "not-ready")
        #expect(error.message == "service 'a' is unhealthy: exited with status 3: one: connection refused")
    }

    @Test("An unhealthy service is restarted, and its new run has no earlier health")
    func restarted() async throws {
        let scratch = try Scratch()
        var service = service(
            probe("test -e ready || { echo 'the door is shut'; false; }"), restart: .onFailure(limit: nil))
        service.command = ["sh", "-c", "touch ready; \(Service.forever)"]
        try await scratch.supervisor(scratch.stack([service])).running { supervisor in
            let first = try await supervisor.wait(for: "a") { $0.state == .ready }
            try FileManager.default.removeItem(atPath: scratch.path + "/ready")
            // A new run must not show the health of the old run.
            for await status in supervisor.statuses {
                guard let status = status["a"], status.restarts == 1 else { continue }
                #expect(status.health?.state != .unhealthy)
                if status.state == .ready { break }
            }
            let second = try #require(supervisor.status["a"])
            #expect(second.health == ServiceHealth(state: .healthy))
            #expect(second.pid != first.pid && second.signal == SIGTERM)
            #expect(second.fault == nil)
        }
    }

    @Test("An unhealthy service without a restart policy continues, and can become healthy again")
    func goesOn() async throws {
        let scratch = try Scratch()
        _ = try scratch.write("", to: "ready")
        let stack = scratch.stack([service(probe("test -e ready"))])
        try await scratch.supervisor(stack).running { supervisor in
            let first = try await supervisor.wait(for: "a") { $0.health?.state == .healthy }
            try FileManager.default.removeItem(atPath: scratch.path + "/ready")
            let ill = try await supervisor.wait(for: "a") { $0.health?.state == .unhealthy }
            #expect(ill.state == .running && ill.health?.reason == "exited with status 1")
            _ = try scratch.write("", to: "ready")
            let well = try await supervisor.wait(for: "a") { $0.health?.state == .healthy }
            #expect(well.state == .ready && well.pid == first.pid && well.restarts == 0)
        }
    }

    @Test("A check that hangs is killed with its children, and failures during the start do not count")
    func hangs() async throws {
        let scratch = try Scratch()
        let script = "test -e ready && exit; sleep 1000 & echo $! >> children; echo still waiting; wait"
        var check = probe(script, retries: 1, startPeriod: .seconds(1000))
        check.timeout = .milliseconds(200)
        try await scratch.supervisor(scratch.stack([service(check)])).running { supervisor in
            let status = try await supervisor.wait(for: "a") { $0.health?.reason != nil }
            #expect(status.health?.reason == "the check took longer than 0.2 seconds: still waiting")
            #expect(status.state == .starting)
            _ = try scratch.write("", to: "ready")
            try await supervisor.wait(for: "a") { $0.state == .ready }
        }
        let children = try scratch.read("children").split(separator: "\n").compactMap { pid_t($0) }
        #expect(!children.isEmpty && children.allSatisfy { ProcessTable.entry(of: $0)?.isAlive != true })
    }

    @Test("A check with endless output takes bounded memory, and its last output is shown")
    func longOutput() async throws {
        let scratch = try Scratch()
        let script = "perl -e 'print \"x\" x 5_000_000, \"\\nthe last word\\n\"; exit 1'"
        let error = try await #require(throws: ComposeError.self) {
            try await scratch.supervisor(scratch.stack([service(probe(script, retries: 1))])).run()
        }
        #expect(error.message.hasSuffix("x: the last word"))
        #expect(error.message.utf8.count < 3000)
    }

    @Test("Two checks of a service never run at the same time")
    func oneAtATime() async throws {
        let scratch = try Scratch()
        // The third check and all later checks succeed, unless two checks run at the same time.
        let script = "mkdir busy || exit 1; echo >> count; sleep 0.05; rmdir busy; test $(wc -l < count) -ge 3"
        let check = probe(script, startPeriod: .seconds(1000))
        try await scratch.supervisor(scratch.stack([service(check)])).running { supervisor in
            var reasons: Set<String> = []
            for await status in supervisor.statuses {
                reasons.formUnion([status["a"]?.health?.reason].compactMap(\.self))
                if status["a"]?.state == .ready { break }
            }
            #expect(reasons == ["exited with status 1"], "and not: mkdir: cannot create directory")
        }
    }

    @Test("An address is healthy when it answers, and otherwise the reason is reported")
    func endpoints() async throws {
        let server = try TestServer()
        let clock = RunningClock()
        func failure(_ test: HealthProbe.Test, timeout: Duration = .seconds(30)) async -> String? {
            await EndpointCheck(test: test, timeout: timeout, clock: clock).run()
        }
        for (answer, expected) in [
            ("HTTP/1.1 200 OK\r\n\r\n", nil), ("HTTP/1.0 302 Found\r\n\r\n", nil),
            ("HTTP/1.1 503 Service Unavailable\r\n\r\n", "the answer is 503 Service Unavailable"),
            ("SSH-2.0-x\r\n", "the answer is not one of HTTP"), ("", "the answer is not one of HTTP"),
        ] as [(String, String?)] {
            async let request = server.answer(answer)
            let url = "http://127.0.0.1:\(server.port)/health?deep=1"
            #expect(await failure(.http(url)) == expected, "\(answer)")
            #expect(await request.hasPrefix("GET /health?deep=1 HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"))
        }
        #expect(await failure(.tcp("localhost:\(server.port)")) == nil)
        #expect(
            await failure(.http("http://127.0.0.1:\(server.port)"), timeout: .milliseconds(50))
                == "the check took longer than 0.05 seconds", "nobody answers")
        let port = server.port
        server.close()
        #expect(
            await failure(.tcp("127.0.0.1:\(port)")) == "cannot connect to 127.0.0.1:\(port): Connection refused")
        #expect(await failure(.tcp("127.0.0.1:${NONE}")) == "the address to check is not valid")
    }

    @Test("A service is healthy when its port is open")
    func port() async throws {
        let scratch = try Scratch()
        let server = "use IO::Socket::INET; $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1', "
        let script = "LocalPort => $ENV{SEGUE_PORT_WEB}, Listen => 5); while ($c = $s->accept) { close $c }"
        var service = Service(name: "a", command: ["perl", "-e", server + script])
        var probe = probe("", retries: .max)
        probe.test = .tcp("127.0.0.1:${SEGUE_PORT_WEB}")
        service.readiness = .probe(probe)
        try await scratch.supervisor(scratch.stack([service], ports: ["web"])).running { supervisor in
            let ready = try await supervisor.wait(for: "a") { $0.state == .ready }
            #expect(ready.health?.state == .healthy)
        }
    }

    @Test("A check whose command does not exist is reported")
    func missingCommand() async throws {
        let scratch = try Scratch()
        var check = probe("", retries: 1)
        check.test = .command(["no-such-check"])
        let error = try await #require(throws: ComposeError.self) {
            try await scratch.supervisor(scratch.stack([service(check)])).run()
        }
        #expect(error.message.contains("is unhealthy: service 'a': no executable 'no-such-check' in "))
    }
}

/// A TCP server on a loopback port that answers one connection at a time.
private final class TestServer: Sendable {
    let port: Int
    private let descriptor: CInt

    init() throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 5) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isBound else { throw CocoaError(.fileWriteUnknown) }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    func close() {
        shutdown(descriptor, CInt(SHUT_RDWR))
        Glibc.close(descriptor)
    }

    /// Accepts a connection, and answers its request.
    ///
    /// - Returns: the request.
    func answer(_ text: String) async -> String {
        await DescriptorReadiness.waitForInput(descriptor)
        let connection = accept(descriptor, nil, nil)
        defer { Glibc.close(connection) }
        await DescriptorReadiness.waitForInput(connection)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection, &buffer, buffer.count, 0)
        send(connection, text, text.utf8.count, CInt(MSG_NOSIGNAL))
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
