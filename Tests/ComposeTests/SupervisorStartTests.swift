import Foundation
import Testing

@testable import Compose

@Suite("Supervisor: starting")
struct SupervisorStartTests {
    @Test("Each service starts only when its dependencies have the state that it needs")
    func order() async throws {
        let scratch = try Scratch()
        let database = Service.shell(
            "database", "echo database >> order; \(Service.notify("STATUS=loaded\\nREADY=1")); \(Service.forever)"
        )
        let migration = Service.shell(
            "migration", "echo migration >> order", after: [Dependency(on: "database", condition: .healthy)]
        )
        let web = Service.shell(
            "web", "echo web >> order; \(Service.notify("STATUS=written")); \(Service.forever)",
            after: [Dependency(on: "migration", condition: .completed)]
        )
        let supervisor = try scratch.supervisor(scratch.stack([web, migration, database]))
        let status = try await supervisor.running {
            try await $0.wait { $0.phase == .up && $0["web"]?.message == "written" }
        }
        #expect(try scratch.read("order") == "database\nmigration\nweb\n")
        #expect(status["database"]?.state == .ready)
        #expect(status["database"]?.message == "loaded")
        #expect(status["migration"]?.exitCode == 0)
        #expect(status["web"]?.state == .running)
    }

    @Test("A service has its bus, project, state and ports in its environment, and its own variables win")
    func environment() async throws {
        let scratch = try Scratch()
        var service = Service.shell("probe", "env > variables")
        service.environment = ["OWN": "yes", "SEGUE_PORT_WEB_UI": "1"]
        var options = SupervisorOptions.test
        options.environment["NOTIFY_SOCKET"] = "/nowhere"
        let stack = scratch.stack([service], ports: ["spotify", "web-ui"])
        let supervisor = try scratch.supervisor(stack, options: options)
        try await supervisor.running { try await $0.wait(for: "probe") { $0.state == .exited } }
        let lines = Set(try scratch.read("variables").split(separator: "\n").map(String.init))
        let port = try #require(supervisor.status.ports["spotify"])
        #expect(port > 0 && port != supervisor.status.ports["web-ui"])
        let expected: Set = [
            "SEGUE_BUS=ipc://\(scratch.runtimeRoot)/test/bus", "SEGUE_PROJECT=test", "SEGUE_SERVICE=probe", "OWN=yes",
            "SEGUE_STATE_DIR=\(scratch.stateRoot)/test/data", "SEGUE_PORT_SPOTIFY=\(port)", "SEGUE_PORT_WEB_UI=1",
            "NOTIFY_SOCKET=\(scratch.runtimeRoot)/test/notify/probe",
        ]
        #expect(expected.subtracting(lines).isEmpty)
    }

    @Test("A compose file can refer to values that are known only when its services start")
    func offeredVariables() async throws {
        let scratch = try Scratch()
        let file = try ComposeFile(
            text: """
                x-ports: [spotify]
                services:
                  probe:
                    command: [sh, -c, 'echo "$$1 $$URL $${SEGUE_SERVICE}" > told', sh, "${SEGUE_STATE_DIR}/kept"]
                    environment: { URL: "http://127.0.0.1:${SEGUE_PORT_SPOTIFY}/$SEGUE_PROJECT" }
                """,
            path: "c.yaml", directory: scratch.path, environment: ["SEGUE_STATE_DIR": "/elsewhere"])
        #expect(file.unsetVariables.isEmpty)
        let supervisor = try scratch.supervisor(file.stack)
        try await supervisor.running { try await $0.wait(for: "probe") { $0.state == .exited } }
        let port = try #require(supervisor.status.ports["spotify"])
        #expect(
            try scratch.read("told") == "\(scratch.stateRoot)/test/data/kept http://127.0.0.1:\(port)/test probe\n")
    }

    @Test("With x-keys, each service gets its own key file, and nobody gets that of the user who started the stack")
    func keys() async throws {
        let scratch = try Scratch()
        let text = """
            x-keys: keys
            services:
              a: { command: [sh, -c, 'echo "$$SEGUE_BUS_CURVE" > a'] }
              b: { command: [sh, -c, 'echo "$$SEGUE_BUS_CURVE" > b'] }
              c: { command: [sleep, infinity] }
            """
        let stack = try ComposeFile(text: text, path: "c.yaml", directory: scratch.path, environment: [:]).stack
        let project = try scratch.project("test")
        let supervisor = try scratch.supervisor(stack)
        try await supervisor.running {
            for name in ["a", "b"] { try await $0.wait(for: name) { $0.state == .exited } }
            #expect(try project.operatorKey == "\(scratch.path)/keys/operator.key")
        }
        for name in ["a", "b"] { #expect(try scratch.read(name) == "\(scratch.path)/keys/\(name).key\n") }
        #expect(try project.operatorKey == nil)
        let tag = ProcessTag(project: project, service: "a", instance: "a")
        let inherited = ["SEGUE_BUS_CURVE": "my.key", "SEGUE_BUS_NKEY": "my.nk", "SEGUE_BUS_CREDS": "my.creds"]
        func variables(keys: String?, own: [String: String?] = [:]) -> [String: String] {
            var service = stack.services[0]
            service.environment = own
            return OfferedVariables(project: project, bus: nil, keys: keys, ports: [:], service: "a").environment(
                of: service, inherited: inherited, notifyPath: "n", tag: tag
            ).filter { $0.key.hasPrefix("SEGUE_BUS_") }
        }
        #expect(variables(keys: nil) == ["SEGUE_BUS_NKEY": "my.nk", "SEGUE_BUS_CREDS": "my.creds"])
        #expect(variables(keys: "keys") == ["SEGUE_BUS_CURVE": "keys/a.key"])
        #expect(
            variables(keys: "keys", own: ["SEGUE_BUS_NKEY": "a.nk"])
                == ["SEGUE_BUS_CURVE": "keys/a.key", "SEGUE_BUS_NKEY": "a.nk"])
    }

    @Test("The bus of x-bus, with its port, is in the environment of each service and known to other programs")
    func bus() async throws {
        let scratch = try Scratch()
        let text = """
            x-ports: [nats]
            x-bus: nats://127.0.0.1:${SEGUE_PORT_NATS},host/$WHO
            services:
              probe: { command: [sh, -c, 'echo "$$1 $$SEGUE_BUS" > told', sh, "$SEGUE_BUS"] }
              other: { command: [sleep, infinity] }
            """
        func stack(_ who: String) throws -> Stack {
            try ComposeFile(text: text, path: "c.yaml", directory: scratch.path, environment: ["WHO": who]).stack
        }
        let supervisor = try scratch.supervisor(try stack("A"))
        let change = ControlRequest.up(UpRequest(stack: try stack("B")))
        let project = try scratch.project("test")
        let own = try project.busAddress
        try await supervisor.running {
            try await $0.wait(for: "probe") { $0.state == .exited }
            let address = "nats://127.0.0.1:\(try #require(supervisor.status.ports["nats"])),host/A"
            #expect(try project.busAddress == address && supervisor.status.bus == address)
            #expect(try scratch.read("told") == "\(address) \(address)\n")
            let error = await #expect(throws: ComposeError.self) { try await supervisor.perform(change) }
            #expect(error?.code == "bus-changed")
        }
        #expect(try project.busAddress == own && own.hasPrefix("ipc://"))
    }

    @Test("A service that ends before it is ready is an error with its last lines, and the others are stopped")
    func endsBeforeReady() async throws {
        let scratch = try Scratch()
        var service = Service.shell("broken", "echo one >&2; echo 'no configuration' >&2; exit 3")
        service.readiness = .notify(timeout: nil)
        let supervisor = try scratch.supervisor(scratch.stack([.shell("other", Service.forever), service]))
        let error = try await #require(throws: ComposeError.self) { try await supervisor.run() }
        #expect(error.code == "not-ready")
        #expect(error.message == "service 'broken' exited with status 3 before it was ready")
        #expect(error.logTail == ["one", "no configuration"])
        #expect(supervisor.status["other"]?.state != .running)
        #expect(supervisor.status["broken"]?.state == .failed)
    }

    @Test("A service that reports that it is ready and ends at once counts as ready")
    func readyAndGone() async throws {
        let scratch = try Scratch()
        var service = Service.shell("a", "exec \(Service.notify("READY=1"))")
        service.readiness = .notify(timeout: nil)
        let supervisor = try scratch.supervisor(scratch.stack([service]))
        try await within("the end of the service") { try await supervisor.run() }
        #expect(supervisor.status["a"]?.state == .exited)
    }

    @Test("A service that does not become ready in time is an error, and all its processes are ended")
    func startTimeout() async throws {
        let scratch = try Scratch()
        var service = Service.shell("slow", "echo trying; sleep 1000 & echo $! > pid; wait")
        service.readiness = .notify(timeout: .milliseconds(300))
        service.restart = .always()
        let supervisor = try scratch.supervisor(scratch.stack([service]))
        let error = try await #require(throws: ComposeError.self) { try await supervisor.run() }
        #expect(error.code == "not-ready")
        #expect(error.logTail == ["trying"])
        let child = try #require(pid_t(scratch.read("pid").trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(ProcessTable.entry(of: child)?.isAlive != true)
    }

    @Test("A command that does not exist is refused in one line with service and command")
    func missingExecutable() async throws {
        let scratch = try Scratch()
        let supervisor = try scratch.supervisor(scratch.stack([Service(name: "a", command: ["no-such-command"])]))
        let error = try await #require(throws: ComposeError.self) { try await supervisor.run() }
        #expect(error.code == "executable-not-found")
        #expect(error.message.hasPrefix("service 'a': no executable 'no-such-command' in "))
        #expect(!error.description.contains("\n"))
    }

    @Test("A working directory that does not exist is refused in one line with its path")
    func missingDirectory() async throws {
        let scratch = try Scratch()
        var service = Service.shell("a", "true")
        service.workingDirectory = "nowhere"
        let error = try await #require(throws: ComposeError.self) {
            try await scratch.supervisor(scratch.stack([service])).run()
        }
        #expect(error.message == "service 'a': there is no folder \(scratch.path)/nowhere")
    }

    @Test("A service inherits only the three standard descriptors")
    func descriptors() async throws {
        let scratch = try Scratch()
        try await scratch.supervisor(scratch.stack([.shell("a", "ls /proc/$$/fd; true")])).run()
        let logs = try scratch.project().logs()
        #expect(await logs.reduce(into: []) { $0.append($1.text) } == ["0", "1", "2"])
    }

    @Test("A command is searched for beside the running executable before PATH")
    func executableDirectory() async throws {
        let scratch = try Scratch()
        let script = try scratch.write("#!/bin/sh\necho mine > who\n", to: "true")
        chmod(script, 0o755)
        var options = SupervisorOptions.test
        options.executableDirectory = scratch.path
        let supervisor = try scratch.supervisor(
            scratch.stack([Service(name: "a", command: ["true"])]), options: options)
        try await supervisor.run()
        #expect(try scratch.read("who") == "mine\n")
    }

    @Test("A dependency that fails is reported as the reason")
    func failedDependency() async throws {
        let scratch = try Scratch()
        let stack = scratch.stack([
            .shell("job", "exit 1"),
            .shell("web", Service.forever, after: [Dependency(on: "job", condition: .completed)]),
        ])
        let error = try await #require(throws: ComposeError.self) { try await scratch.supervisor(stack).run() }
        #expect(error.message == "service 'web' cannot start: 'job' cannot reach service_completed_successfully")
    }

    @Test("A second supervisor of a project is refused, because the first one runs")
    func onlyOne() async throws {
        let scratch = try Scratch()
        let stack = scratch.stack([.shell("a", Service.forever)])
        let second = try scratch.supervisor(stack)
        try await scratch.supervisor(stack).running { first in
            try await first.wait { $0.phase == .up }
            let error = try await #require(throws: ComposeError.self) { try await second.run() }
            #expect(error.code == "already-running")
            #expect(error.message == "project 'test' is already running (pid \(getpid()))")
            #expect(first.status["a"]?.state == .running)
        }
    }

    @Test("Two projects run beside each other, each with its own sockets and ports")
    func twoProjects() async throws {
        let scratch = try Scratch()
        let stack = scratch.stack([.shell("a", "\(Service.notify("READY=1")); \(Service.forever)")], ports: ["web"])
        let one = try scratch.supervisor(stack, project: "one")
        let two = try scratch.supervisor(stack, project: "two")
        try await one.running { one in
            try await two.running { two in
                let first = try await one.wait { $0["a"]?.state == .ready }
                let second = try await two.wait { $0["a"]?.state == .ready }
                #expect(first.bus != second.bus)
                #expect(first["a"]?.pid != second["a"]?.pid)
            }
            #expect(one.status["a"]?.state == .ready, "the other's end leaves it alone")
        }
    }
}
