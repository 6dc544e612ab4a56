import Foundation
import TestSupport
import Testing

@testable import Compose

@Suite("Supervisor: many requests at once")
struct HammerTests {
    /// Each process holds the lock of its instance as long as it runs. A second process of the instance would find the
    /// lock taken and write to `duplicates`.
    private static func service(_ name: String, after dependencies: [Dependency] = []) -> Service {
        let script = """
            exec 9> lock-$SEGUE_SERVICE-$SEGUE_REPLICA
            flock -n 9 || echo $SEGUE_SERVICE-$SEGUE_REPLICA >> duplicates
            exec sleep 1000
            """
        var service = Service.shell(name, script, after: dependencies)
        service.restart = .always()
        return service
    }

    private static func request(_ random: inout some RandomNumberGenerator, _ stack: Stack) -> ControlRequest {
        let services = [["a"], ["b"], ["c"], ["a", "b"], []].randomElement(using: &random) ?? []
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return .stop(services: services, grace: Bool.random(using: &random) ? .zero : nil)
        case 1: return .start(services: services)
        case 2, 3: return .restart(services: services, followed: Bool.random(using: &random), grace: nil)
        case 4: return .scale(["b": Int.random(in: 0...3, using: &random)])
        case 5: return .kill(services: services, signal: SIGKILL)
        default:
            var stack = stack
            stack.services[0].environment["VERSION"] = String(Int.random(in: 0..<3, using: &random))
            return .up(UpRequest(stack: stack))
        }
    }

    @Test(
        "Random requests and crashes never start an instance twice, and the last request takes effect",
        arguments: [1, 2, 3] as [UInt64])
    func hammer(seed: UInt64) async throws {
        let scratch = try Scratch()
        let stack = scratch.stack([
            Self.service("a"), Self.service("b", after: [Dependency(on: "a", restarts: true)]), Self.service("c"),
        ])
        try await scratch.supervisor(stack).running { supervisor in
            try await supervisor.wait { $0.phase == .up }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        var random = SeededGenerator(seed: seed * 10 + UInt64(task))
                        for _ in 0..<25 {
                            let before = supervisor.status
                            try await supervisor.perform(Self.request(&random, stack))
                            // Some requests arrive while earlier requests are still being carried out, some afterwards.
                            guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
                            try await supervisor.wait { $0 != before || $0.services.allSatisfy { !$0.isActive } }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await supervisor.perform(.up(UpRequest(stack: stack)))
            let end = try await supervisor.wait { status in
                status.services.count == 3 && status.services.allSatisfy(\.isUp)
            }
            let sessions = Set(end.services.compactMap(\.pid))
            #expect(sessions.count == 3)
            #expect(Set(try Self.processes(of: scratch.project()).map(\.session)) == sessions)
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/duplicates"))
        #expect(try Self.processes(of: scratch.project()).isEmpty)
    }

    private static func processes(of project: Project) throws -> [ProcessTable.Entry] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter {
            ProcessTable.variable("SEGUE_STATE_DIR", of: $0) == project.dataDirectory
        }.compactMap(ProcessTable.entry).filter(\.isAlive)
    }
}
