import Contracts
import EventBus
import Monitor
import SegueTestSupport
import TestSupport
import Testing

@Suite("Python client with a presence", .needsPython)
struct PythonMetricsTests {
    @Test("The client has a presence, and reports its metrics on request", .timeLimit(.minutes(3)))
    func metrics() async throws {
        try await TestStack.withPython { stack, python in
            try await python.running("announce") { process in
                try await process.waitUntilLine("announced")
                let presence = try await stack.message(Document.Presence.self).message
                #expect(presence.name == "python" && presence.runs(consumer: "python"))
                let instance = presence.instance
                var reports: [String: DomainEvent.MetricsReported] = [:]
                repeat { reports = try await MetricsRequests.ask([instance], on: stack.bus) } while reports.isEmpty
                #expect(reports == [instance: .init(instance: instance, handled: 0, failed: 0, lag: 0)])
            }
        }
    }
}
