import Contracts
import EventBus
import Monitor
import SegueTestSupport
import Testing

@Suite("Idle stack", .timeLimit(.minutes(5)))
struct IdleStackTests {
    @Test(
        "An idle stack adds no message to the journal, however often its metrics are requested",
        arguments: Story.Shape.single)
    func journal(shape: Story.Shape) async throws {
        try await Story.tell(in: shape) { story in
            for platform in ["ios", "mac"] { try await story.stack.screen("launch", on: platform) }
            for service in ["auth-service", "music-service", "error-notifier"] {
                _ = try await story.presence(of: service)
            }
            let documents = try await story.bus.documents(matching: [.type(Document.Presence.self)])
            let instances = Set(try documents.map { try $0.decode(Document.Presence.self).instance })
            func ask() async throws -> [DomainEvent.MetricsReported] {
                while true {
                    // On a machine with much work, a process may need more than a second.
                    let reports = try await MetricsRequests.ask(instances, on: story.bus)
                    if reports.count == instances.count { return Array(reports.values) }
                }
            }
            // All messages are handled.
            while try await !ask().allSatisfy({ $0.lag == 0 }) {}
            let end = try await story.bus.inspect.end()
            for _ in 0..<10 { _ = try await ask() }
            let new = story.stack.messages.filter { $0.position.map { $0.offset > end.offset } ?? false }
            #expect(try await story.bus.inspect.end() == end, "\(new.map(\.type))")
            for type in [Document.Presence.type, Document.ServiceContract.type] {
                #expect(story.stack.messages.filter { $0.type == type }.count == instances.count, "\(type)")
            }
        }
    }
}
