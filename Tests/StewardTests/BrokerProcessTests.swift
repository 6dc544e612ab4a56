import Foundation
import NATSTestSupport
import Subprocess
import SystemPackage
import SystemSupport
import TestSupport
import Testing

@Suite("Program broker with NATS")
struct BrokerProcessTests {
    /// The folder of the running executable, in which the built executables are.
    private static let broker = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("broker").path

    private static func environment(_ variables: [String: String] = [:]) -> Environment {
        let pairs = variables.compactMap { name, value in Environment.Key(rawValue: name).map { ($0, Optional(value)) }
        }
        return .inherit.updating(Dictionary(pairs, uniquingKeysWith: { $1 }))
    }

    @Test(
        "Options that do not apply to NATS are refused with a reason in one line", .timeLimit(.minutes(3)),
        arguments: [
            (["--journal", "/tmp/journal.sqlite"], "the servers store the journal"),
            (["--durability", "power"], "set sync_interval"), (["--replicas", "2"], "use 1, 3 or 5"),
            (["--replicas", "3"], "use a smaller --replicas"),
        ])
    func refusals(arguments: [String], reason: String) async throws {
        try await NATSServer().whileRunning { server in
            let result = try await Subprocess.run(
                .path(FilePath(Self.broker)), arguments: Arguments(["--bus", server.url] + arguments),
                environment: Self.environment(), input: .none, output: .string(limit: 1 << 20),
                error: .string(limit: 1 << 20))
            #expect(result.terminationStatus == .exited(78))
            let lines = result.standardError.split(separator: "\n").filter { $0.hasPrefix("broker: ") }
            #expect(lines.count == 1 && lines[0].contains(reason), "\result.standardError")
        }
    }

    @Test("The steward reports that it is ready when it leads, and stops on request", .timeLimit(.minutes(3)))
    func ready() async throws {
        try await NATSServer().whileRunning { server in
            let folder = try ScratchFolder()
            defer { folder.remove() }
            let socket = try NotifySocket(path: folder.path("notify"))
            let result = try await Subprocess.run(
                .path(FilePath(Self.broker)), arguments: ["--bus", server.url],
                environment: Self.environment(["NOTIFY_SOCKET": socket.path]), input: .none, output: .sequence,
                error: .discarded
            ) { execution in
                var (status, isReady): (String?, Bool) = (nil, false)
                while !isReady || status == nil, let message = await socket.next() {
                    status = message.status ?? status
                    isReady = isReady || message.isReady
                }
                try execution.send(signal: .terminate)
                return status
            }
            #expect(result.closureResult == "leads")
            #expect(result.terminationStatus == .exited(0))
        }
    }
}
