import Foundation
import SystemSupport
import Testing

@testable import Compose

/// Tests of the supervisor as a separate process, as `segue up -d` starts it.
@Suite("Supervisor: separate process")
struct SupervisorProcessTests {
    /// A compose file with two services, one of which has a child, and the supervisor that runs it.
    private struct Fixture {
        let scratch: Scratch
        let project: Project
        let supervisor: DetachedSupervisor

        init(_ services: String) throws {
            scratch = try Scratch()
            project = try scratch.project()
            let file = try scratch.write("services:\n" + services, to: "compose.yaml")
            let directory = try #require(InstalledFiles.programFolder)
            supervisor = DetachedSupervisor(
                project: project,
                executable: directory + "/compose-fixture",
                arguments: [file, project.name, scratch.stateRoot, scratch.runtimeRoot]
            )
        }

        var status: ProjectStatus {
            get throws { try #require(try ProjectStatus.read(project)) }
        }

        func isAlive(_ process: ProcessIdentity?) -> Bool { process?.isAlive ?? false }
    }

    private static let pair = """
          first:
            command: ["sh", "-c", "echo hello; \(ready); exec sleep 1000"]
            healthcheck: {test: [NOTIFY]}
          second:
            # Ready when its child runs. Some tests kill it and leave the child.
            command: ["sh", "-c", "sleep 1000 & \(ready); wait"]
            healthcheck: {test: [NOTIFY]}
            depends_on: {first: {condition: service_healthy}}
        """

    /// A command that sends `READY=1`, escaped for a quoted string in a compose file.
    private static let ready = Service.notify("READY=1")
        .replacing("$", with: "$$").replacing("\"", with: "\\\"")

    @Test("A detached start returns when all services are up, and a stop leaves no process and no socket")
    func startAndStop() async throws {
        let fixture = try Fixture(Self.pair)
        try await within("the start") { try await fixture.supervisor.start(until: .ready) }
        let status = try fixture.status
        #expect(status.isSupervisorAlive)
        #expect(status.phase == .up)
        #expect(status["first"]?.state == .ready)
        #expect(fixture.isAlive(status["second"]?.process))

        #expect(try await within("the stop") { try await fixture.project.stop() })
        let stopped = try fixture.status
        #expect(!stopped.isSupervisorAlive)
        #expect(stopped.phase == .stopped)
        for service in status.services { #expect(!fixture.isAlive(service.process)) }
        #expect(!FileManager.default.fileExists(atPath: fixture.project.runtimeDirectory))
        #expect(try await fixture.project.stop() == false, "there is nothing left to stop")
    }

    @Test("A detached start that fails reports why, with the service's last lines")
    func failingStart() async throws {
        let fixture = try Fixture(
            """
              a:
                command: [sh, -c, "echo cannot open the door; exit 4"]
                healthcheck: {test: [NOTIFY]}
            """
        )
        let error = try await #require(throws: ComposeError.self) {
            try await within("the start") { try await fixture.supervisor.start(until: .ready) }
        }
        #expect(error.message == "service 'a' exited with status 4 before it was ready")
        #expect(error.logTail == ["cannot open the door"])
    }

    @Test("A supervisor that cannot begin reports why")
    func badFile() async throws {
        let fixture = try Fixture("  a: {image: x}")
        let error = try await #require(throws: ComposeError.self) {
            try await within("the start") { try await fixture.supervisor.start(until: .launched) }
        }
        #expect(error.code == "supervisor-ended")
        #expect(error.logTail.contains { $0.contains("compose.yaml:2: 'image'") })
    }

    @Test("A second detached start reports that the first supervisor runs, and does not disturb it")
    func secondStart() async throws {
        let fixture = try Fixture(Self.pair)
        try await within("the start") { try await fixture.supervisor.start(until: .ready) }
        let error = try await #require(throws: ComposeError.self) {
            try await within("the second start") { try await fixture.supervisor.start(until: .ready) }
        }
        #expect(error.code == "already-running")
        #expect(try fixture.status.phase == .up)
        try await within("the stop") { try await fixture.project.stop() }
    }

    @Test("The next start ends the processes that a killed supervisor has left", .timeLimit(.minutes(1)))
    func takeover() async throws {
        let fixture = try Fixture(Self.pair)
        try await within("the start") { try await fixture.supervisor.start(until: .ready) }
        let before = try fixture.status
        try await killSupervisor(before)
        #expect(before.services.allSatisfy { fixture.isAlive($0.process) }, "they outlive it")

        try await within("the second start") { try await fixture.supervisor.start(until: .ready) }
        let after = try fixture.status
        #expect(after.services.allSatisfy { fixture.isAlive($0.process) })
        for service in before.services { #expect(!fixture.isAlive(service.process)) }
        try await within("the stop") { try await fixture.project.stop() }
    }

    @Test("The next stop ends the processes that a killed supervisor has left, even if only a child is alive")
    func stopAfterKill() async throws {
        let fixture = try Fixture(Self.pair)
        try await within("the start") { try await fixture.supervisor.start(until: .ready) }
        let before = try fixture.status
        try await killSupervisor(before)
        // The leader of the second service is killed, too; its child remains in the session.
        let leader = try #require(before["second"]?.process)
        let session = ProcessSession(id: leader.pid)
        let handle = try #require(leader.open())
        kill(leader.pid, SIGKILL)
        await handle.waitForExit()
        #expect(await !session.members.isEmpty)

        #expect(try await within("the stop") { try await fixture.project.stop() })
        #expect(await session.members.isEmpty)
        #expect(!fixture.isAlive(before["first"]?.process))
        #expect(!FileManager.default.fileExists(atPath: fixture.project.runtimeDirectory))
    }

    @Test("A supervisor that hangs is reported, and can still be stopped")
    func frozenSupervisor() async throws {
        let fixture = try Fixture(Self.pair)
        try await within("the start") { try await fixture.supervisor.start(until: .ready) }
        let before = try fixture.status
        try freezeSupervisor(before)
        let client = ControlClient(project: fixture.project, patience: .milliseconds(300))
        let error = try await #require(throws: ComposeError.self) { try await client.send(.start(services: [])) }
        #expect(error.code == "control-silent")
        #expect(try await within("the stop") { try await fixture.project.stop(timeout: .milliseconds(300)) })
        #expect(!before.supervisor.isAlive)
        for service in before.services { #expect(!fixture.isAlive(service.process)) }
    }

    @Test("A request that failed because the supervisor hung is not carried out later")
    func frozenRequest() async throws {
        let fixture = try Fixture(Self.pair)
        try await within("the start") { try await fixture.supervisor.start(until: .ready) }
        let before = try fixture.status
        let supervisor = try freezeSupervisor(before)
        let client = ControlClient(project: fixture.project, patience: .milliseconds(300))
        await #expect(throws: ComposeError.self) { try await client.send(.stop(services: ["second"], grace: nil)) }
        supervisor.send(SIGCONT)
        let again = ControlClient(project: fixture.project)
        try await within("an answer") {
            _ = try await again.send(.restart(services: ["first"], followed: false, grace: nil))
        }
        try await within("the restart") { try await fixture.project.waitUntilUp(["first", "second"]) }
        #expect(try fixture.status["second"] == before["second"])
        try await within("the stop") { try await fixture.project.stop() }
    }

    @Test("Requests are carried out while the disk of the state folder is full, and the status is current")
    func fullDisk() async throws {
        let fixture = try Fixture(Self.pair)
        try await within("the start") { try await fixture.supervisor.start(until: .ready) }
        let before = try fixture.status
        // A folder in place of the temporary file makes each write of the status fail.
        let blocked = fixture.project.statusPath + ".tmp"
        try FileManager.default.createDirectory(atPath: blocked, withIntermediateDirectories: false)
        let request = ControlRequest.restart(services: ["first"], followed: false, grace: nil)
        let changes = try #require(try await ControlClient(project: fixture.project).send(request))
        try await within("the restart") { try await fixture.project.follow(changes) }
        let after = try fixture.status
        #expect(after["first"]?.process != before["first"]?.process)
        #expect(after["first"]?.process?.isAlive == true)
        #expect(try await within("the stop") { try await fixture.project.stop() })
        #expect(!fixture.isAlive(after["first"]?.process))
        let told = try String(contentsOfFile: fixture.project.supervisorLogPath, encoding: .utf8)
        #expect(told.components(separatedBy: "cannot write the status").count == 2, "it is told once")
    }

    @Test("A client that waits for a request gets an error when the supervisor is killed")
    func killedWhileFollowed() async throws {
        let fixture = try Fixture(
            """
              deaf:
                command: [sh, -c, "trap '' TERM; \(Self.ready); while :; do sleep 1000; done"]
                healthcheck: {test: [NOTIFY]}
                stop_grace_period: 1h
            """)
        try await within("the start") { try await fixture.supervisor.start(until: .ready) }
        let before = try fixture.status
        for request: ControlRequest in [
            .restart(services: ["deaf"], followed: true, grace: nil), .stop(services: ["deaf"], grace: nil),
        ] {
            let changes = try await ControlClient(project: fixture.project).send(request)
            #expect(try fixture.status.outcome(of: #require(changes?.first)) == .pending)
        }
        let changes = try #require(
            try await ControlClient(project: fixture.project).send(.stop(services: [], grace: nil)))
        try await killSupervisor(before)
        let error = try await #require(throws: ComposeError.self) {
            try await within("the news") { try await fixture.project.follow(changes) }
        }
        #expect(error.code == "supervisor-ended")
        #expect(error.message.hasSuffix("ended before 'deaf' had ended"))
        #expect(fixture.isAlive(before["deaf"]?.process))
        try await within("the stop") { try await fixture.project.stop(timeout: .zero) }
        #expect(!fixture.isAlive(before["deaf"]?.process))
    }

    @Test("A recorded process id that another process now has is not signalled")
    func reusedNumber() async throws {
        let scratch = try Scratch()
        let stack = scratch.stack([.shell("a", Service.forever)])
        try await scratch.supervisor(stack, project: "one").running { one in
            let running = try #require(await one.wait(for: "a") { $0.pid != nil }.process)
            // The other project's status contains the same process id, with an earlier start time.
            let project = try scratch.project("two")
            try project.prepare(services: ["a"])
            let text = try String(contentsOfFile: scratch.project("one").statusPath, encoding: .utf8)
            let time = "\"startTime\" : \(running.startTime)"
            #expect(text.contains(time))
            try text.replacing(time, with: "\"startTime\" : 1")
                .write(toFile: project.statusPath, atomically: true, encoding: .utf8)
            #expect(try await project.stop() == false)
            #expect(running.isAlive)
        }
    }

    /// Suspends the supervisor.
    @discardableResult
    private func freezeSupervisor(_ status: ProjectStatus) throws -> ProcessHandle {
        let handle = try #require(status.supervisor.open())
        handle.send(SIGSTOP)
        // One of its threads may still answer until all of them are suspended.
        #expect(waitpid(status.supervisor.pid, nil, WUNTRACED) == status.supervisor.pid)
        return handle
    }

    private func killSupervisor(_ status: ProjectStatus) async throws {
        let handle = try #require(status.supervisor.open())
        handle.send(SIGKILL)
        await handle.waitForExit()
    }
}
