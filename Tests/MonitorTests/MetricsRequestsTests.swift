import Contracts
import EventBus
import Foundation
import Monitor
import SegueTestSupport
import TestSupport
import Testing

@Suite("Requests for metrics", .timeLimit(.minutes(1)))
struct MetricsRequestsTests {
    private let hub = InMemoryHub()
    private let clock = ManualClock()

    private func bus(_ source: String) -> EventBus { EventBus.inMemory(source: source, hub: hub) }

    /// Runs `body` while a process answers each request with these messages.
    private func answering<Result: Sendable>(
        with answers: [Envelope], _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let process = bus("process/1")
        let filters: [MessageFilter] = [.type(DomainEvent.MetricsRequested.self)]
        return try await process.withSubscription(to: filters, from: .now) { requests in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await request in requests {
                        #expect(request.position == nil, "it is transient")
                        try await process.publishTransient(answers)
                    }
                }
                defer { group.cancelAll() }
                return try await body()
            }
        }
    }

    private static func report(_ instance: String, handled: Int = 1) throws -> Envelope {
        try Envelope(
            DomainEvent.MetricsReported(instance: instance, handled: handled, failed: 0, lag: 0), source: "process/1")
    }

    private static func raw(_ json: String) -> Envelope {
        let attributes = Attributes(type: DomainEvent.MetricsReported.type, source: "stranger/1")
        return Envelope(attributes: attributes, data: Data(json.utf8))
    }

    @Test("A request ends when all processes have reported, and ignores other messages")
    func answers() async throws {
        let answers = [
            Self.raw("nothing"), Self.raw(#"{"instance":"a","handled":-1,"failed":0,"lag":0}"#),
            try Self.report("stranger"), try Self.report("b", handled: 2), try Self.report("a"),
            try Self.report("a", handled: 9),
        ]
        let reports = try await answering(with: answers) {
            // The clock stands still, so nobody waits for its end.
            try await MetricsRequests.ask(["a", "b"], on: bus("tool/1"), clock: clock)
        }
        #expect(reports.mapValues(\.handled) == ["a": 1, "b": 2])
        #expect(try await bus("watcher/1").inspect.end().offset == 0, "nothing is recorded")
    }

    @Test("A request that times out has no report of the silent process")
    func silence() async throws {
        let requests = MetricsRequests(bus: bus("tool/1"), clock: clock)
        async let asked = requests.ask(["a", "silent"])
        try await clock.sleepers()
        requests.handle(try Self.report("a"))
        clock.advance(by: MetricsRequests.patience)
        #expect(try await asked.keys.sorted() == ["a"])
    }

    @Test("No request is published if there is no process")
    func nobody() async throws {
        try await bus("watcher/1").withSubscription(to: [.all], from: .now) { messages in
            #expect(try await MetricsRequests.ask([], on: bus("tool/1"), clock: clock).isEmpty)
            try await bus("tool/1").publishTransient([try Self.report("a")])
            #expect(try await messages.first?.type == DomainEvent.MetricsReported.type)
        }
    }

    @Test("One report answers several concurrent requests")
    func together() async throws {
        let requests = MetricsRequests(bus: bus("tool/1"), clock: clock)
        async let first = requests.ask(["a"])
        async let second = requests.ask(["a", "b"])
        try await clock.sleepers(2)
        for instance in ["a", "b"] { requests.handle(try Self.report(instance)) }
        #expect(try await first.keys.sorted() == ["a"])
        #expect(try await second.keys.sorted() == ["a", "b"])
    }
}
