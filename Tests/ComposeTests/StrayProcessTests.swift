import Foundation
import SystemSupport
import Testing

@testable import Compose

/// Processes that the session of a service's main process does not contain.
@Suite("Stray processes")
struct StrayProcessTests {
    /// The living processes that have inherited the variables of a project's service.
    private static func processes(of project: Project) throws -> [ProcessTable.Entry] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter {
            ProcessTable.variable("SEGUE_STATE_DIR", of: $0) == project.dataDirectory
        }.compactMap(ProcessTable.entry).filter(\.isAlive)
    }

    private static func supervisor(_ services: String, of scratch: Scratch) throws -> DetachedSupervisor {
        let file = try scratch.write("services:\n" + services, to: "compose.yaml")
        let directory = try #require(InstalledFiles.programFolder)
        return DetachedSupervisor(
            project: try scratch.project(), executable: directory + "/compose-fixture",
            arguments: [file, "test", scratch.stateRoot, scratch.runtimeRoot])
    }

    /// Starts a child in a session of its own, and prints its process id.
    private static let daemon = "setsid sh -c 'echo $$; exec sleep 1000' &"

    private static func printedProcess(_ project: Project) async throws -> ProcessIdentity {
        let logs = try project.logs(since: .distantPast)
        let line = try await within("the line of the child") { await logs.first { _ in true } }
        return try #require(line.flatMap { pid_t($0.text) }.flatMap { ProcessIdentity(of: $0) })
    }

    @Test("The next stop ends all processes of a supervisor that was killed during its start")
    func killedWhileStarting() async throws {
        let scratch = try Scratch()
        let project = try scratch.project()
        let supervisor = try Self.supervisor("  a: {command: [sleep, '1000'], scale: 200}\n", of: scratch)
        let killed = try await within("the death of the supervisor") {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try? await supervisor.start(until: .launched) }
                try ComposeError.makeFolder(project.stateDirectory)
                let watch = try DirectoryWatch(path: project.stateDirectory)
                var handle: ProcessHandle?
                var started = 0
                while handle == nil || started < 20 {
                    _ = await watch.wait()
                    let status = try ProjectStatus.read(project)
                    started = status?.services.count { $0.pid != nil } ?? 0
                    handle = handle ?? status?.supervisor.open()
                }
                let supervisor = try #require(handle)
                supervisor.send(SIGKILL)
                await supervisor.waitForExit()
                try await group.waitForAll()
                return true
            }
        }
        #expect(killed)
        #expect(try await within("the stop") { try await project.stop() })
        let left = try Self.processes(of: project)
        #expect(left.isEmpty)
        for process in left { kill(process.pid, SIGKILL) }
    }

    @Test("A child in its own session ends with its service, whether that is stopped or has ended")
    func ownSession() async throws {
        for end in ["exec sleep 1000", "sleep 0.2"] {
            let scratch = try Scratch()
            let project = try scratch.project()
            let supervisor = try scratch.supervisor(scratch.stack([.shell("a", "\(Self.daemon) \(end)")]))
            let child = try await supervisor.running { supervisor in
                let child = try await Self.printedProcess(project)
                if end == "sleep 0.2" { try await supervisor.wait(for: "a") { $0.state == .exited } }
                return child
            }
            #expect(!child.isAlive, "\(end)")
            if child.isAlive { kill(child.pid, SIGKILL) }
        }
    }

    @Test("A child in its own session is found after a kill of the supervisor and the service")
    func ownSessionOfKilled() async throws {
        let scratch = try Scratch()
        let project = try scratch.project()
        let daemon = Self.daemon.replacing("$", with: "$$")
        let supervisor = try Self.supervisor(
            "  a:\n    command: [sh, -c, \"\(daemon) exec sleep 1000\"]\n", of: scratch)
        try await within("the start") { try await supervisor.start(until: .ready) }
        let child = try await Self.printedProcess(project)
        let status = try #require(try ProjectStatus.read(project))
        for process in [status.supervisor, try #require(status["a"]?.process)] {
            let handle = try #require(process.open())
            handle.send(SIGKILL)
            await handle.waitForExit()
        }
        #expect(child.isAlive)
        #expect(try await within("the stop") { try await project.stop() })
        #expect(!child.isAlive)
        if child.isAlive { kill(child.pid, SIGKILL) }
    }
}
