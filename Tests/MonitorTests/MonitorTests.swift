import Contracts
import EventBus
import Foundation
import Monitor
import Synchronization
import TestSupport
import Testing

@Suite("The monitor")
struct MonitorTests {
    /// A bus with the messages n0, n1, …
    private func bus(messages count: Int) async throws -> EventBus {
        let bus = EventBus.inMemory(source: "test/1", hub: InMemoryHub(maximumGap: 1000))
        for index in 0..<count {
            var message = try Envelope.fixed(index.isMultiple(of: 2) ? "event.Even" : "event.Odd")
            message.attributes.id = "n\(index)"
            try await bus.publish(Batch([message]))
        }
        return bus
    }

    private func seen(_ monitor: Monitor) async throws -> [String] {
        let ids = Mutex<[String]>([])
        try await monitor.run { message in ids.withLock { $0.append(message.id) } }
        return ids.withLock(\.self)
    }

    @Test("The monitor begins at the given position, and ends after the given number")
    func starts() async throws {
        let bus = try await bus(messages: 6)
        #expect(try await seen(Monitor(bus: bus, start: .beginning, count: 2)) == ["n0", "n1"])
        let fifth = try await bus.offset(of: "n4")
        #expect(try await seen(Monitor(bus: bus, start: .offset(fifth), count: 2)) == ["n4", "n5"])
        let odd = MessageSelection(types: [try #require(MessagePattern("*.Odd"))])
        #expect(try await seen(Monitor(bus: bus, selection: odd, start: .beginning, count: 3)) == ["n1", "n3", "n5"])
    }

    @Test("The monitor shows transient messages, which have no position")
    func transient() async throws {
        let bus = try await bus(messages: 1)
        let ids = Mutex<[String]>([])
        try await Monitor(bus: bus, start: .beginning, count: 3).run { message in
            ids.withLock { $0.append(message.id) }
            guard message.id == "n0" else { return }
            for (id, isTransient) in [("t", true), ("n1", false)] {
                var message = try Envelope.fixed("event.Even")
                message.attributes.id = id
                if isTransient {
                    try await bus.publishTransient([message])
                } else {
                    try await bus.publish(Batch([message]))
                }
            }
        }
        #expect(ids.withLock(\.self).sorted() == ["n0", "n1", "t"])
    }

    @Test("The monitor begins with messages that were recorded within the given duration")
    func ago() async throws {
        let bus = try await bus(messages: 3)
        #expect(try await seen(Monitor(bus: bus, start: .ago(.seconds(3600)), count: 3)) == ["n0", "n1", "n2"])
        let first = try await withThrowingTaskGroup { group in
            // The monitor's time starts with its subscription. The monitor misses messages that were published before.
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

    @Test("The monitor shows the last of each document first")
    func retained() async throws {
        let bus = try await bus(messages: 1)
        for revision in ["d1", "d2"] {
            var document = try Envelope.fixed("document.Devices")
            document.attributes.id = revision
            try await bus.publish(Batch([document]))
        }
        #expect(try await seen(Monitor(bus: bus, start: .retained, count: 1)) == ["d2"])
    }

    @Test("The monitor shows the last of each type first, then what follows")
    func last() async throws {
        let bus = try await bus(messages: 6)
        #expect(try await seen(Monitor(bus: bus, start: .last, end: .end)) == ["n4", "n5"])
        let even = MessageSelection(types: [try #require(MessagePattern("*.Even"))])
        #expect(try await seen(Monitor(bus: bus, selection: even, start: .last, end: .end)) == ["n4"])
        #expect(try await seen(Monitor(bus: bus, start: .last, count: 1)) == ["n4"])
        try await withThrowingTaskGroup { group in
            let (lines, continuation) = AsyncStream.makeStream(of: String.self)
            group.addTask { try await Monitor(bus: bus, start: .last, count: 3).run { continuation.yield($0.id) } }
            var seen = lines.makeAsyncIterator()
            #expect(await seen.next() == "n4")
            #expect(await seen.next() == "n5")
            var message = try Envelope.fixed("event.Odd")
            message.attributes.id = "new"
            try await bus.publish(Batch([message]))
            #expect(await seen.next() == "new")
            try await group.waitForAll()
        }
    }

    @Test("The monitor ends at an offset, the journal's end or a time, even if no message matches")
    func ends() async throws {
        let bus = try await bus(messages: 6)
        let (second, fifth) = (try await bus.offset(of: "n1"), try await bus.offset(of: "n4"))
        #expect(try await seen(Monitor(bus: bus, start: .beginning, end: .offset(second))) == ["n0", "n1"])
        #expect(try await seen(Monitor(bus: bus, start: .offset(fifth), end: .end)) == ["n4", "n5"])
        #expect(try await seen(Monitor(bus: bus, start: .now, end: .end)) == [])
        let none = MessageSelection(types: [try #require(MessagePattern("command.None"))])
        #expect(try await seen(Monitor(bus: bus, selection: none, start: .beginning, end: .end)) == [])
        // The messages were published in March 2026.
        let before = Date(timeIntervalSince1970: 1_772_368_000)
        #expect(try await seen(Monitor(bus: bus, start: .beginning, end: .time(before))) == [])
        #expect(try await seen(Monitor(bus: bus, start: .beginning, end: .ago(.zero))).count == 6)
        #expect(try await seen(Monitor(bus: bus, start: .time(.distantPast), end: .end)).count == 6)
    }

    @Test("The monitor ends after the given duration", .timeLimit(.minutes(1)))
    func duration() async throws {
        let bus = try await bus(messages: 2)
        let duration = Duration.milliseconds(50)
        #expect(try await seen(Monitor(bus: bus, start: .beginning, duration: duration)) == ["n0", "n1"])
        let soon = MonitorEnd.time(Date(timeIntervalSinceNow: 0.05))
        #expect(try await seen(Monitor(bus: bus, start: .beginning, end: soon)) == ["n0", "n1"])
    }

    @Test("The monitor reports discarded messages, unless it shows them anyway")
    func discards() async throws {
        let bus = try await bus(messages: 2)
        try await bus.publish(DomainEvent.MessageDiscarded(messageID: "m\u{1B}7", reason: "it came\ntoo late"))
        let stranger = try Envelope.fixed("event.MessageDiscarded", "[]")
        try await bus.publish(Batch([stranger]))
        let told = Mutex<[String]>([])
        let tell: Monitor.Tell = { notice in told.withLock { $0.append("\(notice)") } }
        let odd = MessageSelection(types: [try #require(MessagePattern("*.Odd"))])
        try await Monitor(bus: bus, selection: odd, start: .beginning, end: .end).run({ _ in }, tell: tell)
        #expect(told.withLock(\.self) == [#"message m\u001b7 was discarded: it came too late"#])
        told.withLock { $0 = [] }
        try await Monitor(bus: bus, start: .beginning, end: .end).run({ _ in }, tell: tell)
        #expect(told.withLock(\.self).isEmpty)
    }

    @Test("The monitor reports lost messages, summed up by type")
    func losses() async throws {
        let type = MessageType(kind: .event, name: "Even")
        let bus = LossyBus(
            inner: try await bus(messages: 1),
            notices: [
                .recovered(type, count: 2), .removed(type, through: 4), .recovered(type, count: 3),
                .removed(type, through: 9),
            ])
        let told = Mutex<(count: Int, offset: UInt64)>((0, 0))
        try await Monitor(bus: bus.bus, start: .beginning, end: .end).run({ _ in }) { notice in
            told.withLock { told in
                switch notice {
                case .lost(.recovered(type, let count)): told.count += count
                case .lost(.removed(type, let offset)): told.offset = max(told.offset, offset)
                default: Issue.record("\(notice)")
                }
            }
        }
        // The number of notices depends on the speed of the reader, so the sums of the notices are compared.
        #expect(told.withLock(\.self) == (5, 9))
    }

    @Test("The monitor fails with the error of its reader")
    func failure() async throws {
        let bus = try await bus(messages: 2)
        await #expect(throws: BusError.self) {
            try await Monitor(bus: bus, start: .beginning).run { _ in throw BusError(.refused, "enough") }
        }
    }
}

/// A bus with a feed that drops messages. It reports the dropped messages before the first message that arrives.
struct LossyBus: ForwardingEngine {
    let inner: EventBus
    let notices: [SubscriptionNotice]

    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        for notice in notices { onNotice?(notice) }
        return try await inner.withSubscription(to: filters, from: start, until: end, onNotice: onNotice, body)
    }
}
