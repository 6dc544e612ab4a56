import EventBus
import Foundation
import SegueTestSupport
import TestSupport
import Testing

@Suite("A server with few descriptors")
struct DescriptorLimitTests {
    @Test("The server continues, however many connections there are", .timeLimit(.minutes(2)))
    func crowd() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let simulator =
            "exec '\(TestProgram.built("spotify-simulator"))' --catalogue '\(Repository.path("config/simulator/catalogue.yaml"))'"
        try """
        x-ports: [spotify]
        services:
          broker: { command: broker, healthcheck: { test: [NOTIFY] } }
          simulator: { command: [sh, -c, "ulimit -n 128; \(simulator)"], healthcheck: { test: [NOTIFY] } }
        """.write(toFile: scratch.path("compose.yaml"), atomically: true, encoding: .utf8)
        try await TestStack.with(file: scratch.path("compose.yaml")) { stack in
            let port = try stack.port("spotify")
            let crowd = try (0..<300).map { _ in try RawConnection(port: port) }
            let answer = try await RawExchange.answer(
                to: "GET /_control HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
                from: "http://127.0.0.1:\(port)")
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
            withExtendedLifetime(crowd) {}
        }
    }
}
