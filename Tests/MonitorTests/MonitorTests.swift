import EventBus
import Foundation
import Monitor
import Testing

@Suite("The monitor")
struct MonitorTests {
    /// A bus with messages n0, n1, … of which each is a minute newer than the one before; the last is of now.
    private func bus(messages count: Int) async throws -> InMemoryEventBus {
        let bus = InMemoryEventBus(source: "test/1")
        for index in 0..<count {
            var message = try Envelope.fixed(index.isMultiple(of: 2) ? "event.Even" : "event.Odd")
            message.attributes.id = "n\(index)"
            message.attributes.time = Date(timeIntervalSinceNow: -60 * Double(count - 1 - index))
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

    @Test("finds the first message of a time in the past", arguments: 0...7)
    func ago(minutes: Int) async throws {
        let bus = try await bus(messages: 6)
        let first = max(0, 5 - minutes)
        let monitor = Monitor(bus: bus, start: .ago(.seconds(60 * minutes + 30)), count: 6 - first)
        #expect(try await seen(monitor) == (first...5).map { "n\($0)" })
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
