import Foundation
import NATSTestSupport
import Subprocess
import SystemSupport
import TestSupport
import Testing

@Suite("Program broker with NATS")
struct BrokerProcessTests {
    private static func broker(_ arguments: [String], environment: [String: String] = [:]) -> TestProgram {
        TestProgram(TestProgram.built("broker"), arguments, environment: environment)
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
            let result = try await Self.broker(["--bus", server.url] + arguments).run()
            #expect(result.status == .exited(78))
            let lines = result.error.split(separator: "\n").filter { $0.hasPrefix("broker: ") }
            #expect(lines.count == 1 && lines[0].contains(reason), "\(result.error)")
        }
    }

    @Test("The steward reports that it is ready when it leads, and stops on request", .timeLimit(.minutes(3)))
    func ready() async throws {
        try await NATSServer().whileRunning { server in
            let folder = try ScratchFolder()
            defer { folder.remove() }
            let socket = try NotifySocket(path: folder.path("notify"))
            let broker = Self.broker(["--bus", server.url], environment: ["NOTIFY_SOCKET": socket.path])
            let end = try await broker.end { broker in
                var (status, isReady): (String?, Bool) = (nil, false)
                while !isReady || status == nil, let message = await socket.next() {
                    status = message.status ?? status
                    isReady = isReady || message.isReady
                }
                #expect(status == "leads")
                broker.terminate()
            }
            #expect(end == .exited(0))
        }
    }
}
