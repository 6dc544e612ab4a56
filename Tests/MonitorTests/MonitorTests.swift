import EventBus
import Foundation
import Monitor
import Testing

@Suite("The monitor")
struct MonitorTests {
    /// A bus with messages n0, n1, …
    private func bus(messages count: Int) async throws -> InMemoryEventBus {
        let bus = InMemoryEventBus(source: "test/1")
        for index in 0..<count {
            var message = try Envelope.fixed(index.isMultiple(of: 2) ? "event.Even" : "event.Odd")
            message.attributes.id = "n\(index)"
            try await bus.publish(Batch([message]))
        }
        return bus
    }

    private func seen(_ monitor: Monitor) async throws -> [String] {
        var ids: [String] = []
        try await monitor.run { ids.append($0.id) }
        return ids
    }

    @Test("begins where it is told, and ends after the number it is told")
    func starts() async throws {
        let bus = try await bus(messages: 6)
        #expect(try await seen(Monitor(bus: bus, start: .beginning, count: 2)) == ["n0", "n1"])
        #expect(try await seen(Monitor(bus: bus, start: .offset(5), count: 2)) == ["n4", "n5"])
        let odd = MessageSelection(types: [try #require(MessagePattern("*.Odd"))])
        #expect(try await seen(Monitor(bus: bus, selection: odd, start: .beginning, count: 3)) == ["n1", "n3", "n5"])
    }

    @Test("begins with what was journalled so long ago")
    func ago() async throws {
        let bus = try await bus(messages: 3)
        #expect(try await seen(Monitor(bus: bus, start: .ago(.seconds(3600)), count: 3)) == ["n0", "n1", "n2"])
        let first = try await withThrowingTaskGroup { group in
            // Its time begins with the subscription, so some of these come too early for it.
            group.addTask {
                while !Task.isCancelled {
                    var message = try Envelope.fixed("event.Even")
                    message.attributes.id = "new"
                    try await bus.publish(Batch([message]))
                    await Task.yield()
                }
            }
            defer { group.cancelAll() }
            return try await seen(Monitor(bus: bus, start: .ago(.zero), count: 1))
        }
        #expect(first == ["new"])
    }

    @Test("shows the last of each document first")
    func retained() async throws {
        let bus = try await bus(messages: 1)
        for revision in ["d1", "d2"] {
            var document = try Envelope.fixed("document.Devices")
            document.attributes.id = revision
            try await bus.publish(Batch([document]))
        }
        #expect(try await seen(Monitor(bus: bus, start: .retained, count: 1)) == ["d2"])
    }
}
