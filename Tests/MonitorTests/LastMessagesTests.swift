import EventBus
import Foundation
import Monitor
import Synchronization
import TestSupport
import Testing

@Suite("Last messages of a long journal")
struct LastMessagesTests {
    private static let count = 3000

    /// A journal with the messages n1, n2, …: one message has the type `Old`, one has `Rare`, and the others have
    /// `Common`.
    /// - Parameter removed: The number of messages that retention has removed.
    private func bus(removed: Int = 0) async throws -> PrunedBus {
        let bus = EventBus.inMemory(source: "test/1", hub: InMemoryHub(maximumGap: 1000))
        let messages = try (1...Self.count).map { number in
            let type = [3: "event.Old", 1500: "command.Rare"][number] ?? "event.Common"
            return try Envelope.fixed(type, #"{"n":\#(number)}"#) {
                ($0.id, $0.correlationID) = ("n\(number)", "n\(number)")
                // With a cause, a message does not begin a story.
                if type == "event.Common" { $0.causationID = "somebody" }
            }
        }
        for start in stride(from: 0, to: messages.count, by: 1000) {
            try await bus.publish(Batch(Array(messages[start...].prefix(1000))))
        }
        return PrunedBus(bus, removedThrough: removed > 0 ? try await bus.offset(of: "n\(removed)") : 0)
    }

    private func seen(
        on bus: PrunedBus, _ types: String..., where condition: String? = nil, end: MonitorEnd = .end
    ) async throws -> [String] {
        let selection = MessageSelection(
            types: types.compactMap { MessagePattern($0) },
            conditions: try condition.map { [try WhereExpression($0)] } ?? [])
        let ids = Mutex<[String]>([])
        try await Monitor(bus: bus.bus, selection: selection, start: .last, end: end).run { message in
            ids.withLock { $0.append(message.id) }
        } tell: {
            Issue.record("\($0)")
        }
        return ids.withLock(\.self)
    }

    @Test("The last messages of each type are shown once and in order, without reading much else")
    func rare() async throws {
        let bus = try await bus()
        #expect(try await seen(on: bus) == ["n3", "n1500", "n\(Self.count)"])
        #expect(bus.readCount < 300)
        #expect(try await seen(on: bus, "command.*") == ["n1500"])
        #expect(try await seen(on: bus, "event.Old", "*.Rare") == ["n3", "n1500"])
        #expect(bus.readCount < 310)
    }

    @Test(
        "The search continues up to the beginning if few messages match",
        arguments: [1, 2, 744, 2488, 2489, 2744, 2745, 3000])
    func condition(number: Int) async throws {
        let bus = try await bus()
        #expect(try await seen(on: bus, "event.Common", where: "data.n == \(number)") == ["n\(number)"])
        #expect(try await seen(on: bus, where: "data.n > 9999") == [])
        #expect(bus.readCount <= Self.count * 2, "none is read twice by one monitor")
    }

    @Test("The last messages end at the given position")
    func end() async throws {
        let bus = try await bus()
        #expect(try await seen(on: bus, end: .offset(bus.bus.offset(of: "n1499"))) == ["n3", "n1499"])
        #expect(try await seen(on: bus, end: .offset(bus.bus.offset(of: "n2"))) == ["n2"])
    }

    @Test("Only messages that retention has left are shown, and removed ones are not reported as missing")
    func pruned() async throws {
        let bus = try await bus(removed: 2000)
        #expect(try await seen(on: bus) == ["n\(Self.count)"])
        #expect(try await seen(on: bus, where: "data.n < 2002") == ["n2001"])
        #expect(try await seen(on: bus, "event.Old") == [])
    }

    @Test("The last story is found wherever it began")
    func story() async throws {
        let whole = try await bus()
        #expect(try await StoryFinder(bus: whole.bus).last().story?.messages.map(\.id) == ["n1500"])
        let pruned = try await bus(removed: 2000)
        #expect(try await StoryFinder(bus: pruned.bus).last().story == nil)
        _ = try await pruned.publish(
            Batch([
                try Envelope.fixed("command.New") { ($0.id, $0.correlationID, $0.device) = ("new", "new", "ios-1") }
            ]))
        let before = pruned.readCount
        #expect(try await StoryFinder(bus: pruned.bus).last().story?.messages.map(\.id) == ["new"])
        // The last stretch, and the same again with as many messages before it.
        #expect(pruned.readCount - before < 3 * 256 + 10)
    }

    @Test("The last story of a service is found without reading a long journal to its beginning")
    func bounded() async throws {
        let inner = EventBus.inMemory(source: "test/1", hub: InMemoryHub(maximumGap: 1000))
        for start in stride(from: 1, to: 100_000, by: 1000) {
            try await inner.publish(
                Batch(
                    try (start..<start + 1000).map { number in
                        try Envelope.fixed("event.Tick", source: "timer-service/1") {
                            ($0.id, $0.correlationID) = ("n\(number)", "n\(number)")
                        }
                    }))
        }
        let bus = PrunedBus(inner)
        let newest = try await StoryFinder(bus: bus.bus).last()
        #expect(newest.story?.id == "n100000" && !newest.isOfPerson)
        #expect(newest.givenUpAt == (try await inner.offset(of: "n\(100_000 - 65_280)")) + 1)
        #expect(bus.readCount < 70_000)
        #expect(try await StoryFinder(bus: bus.bus, start: .beginning).last().givenUpAt == nil)
    }
}

/// A bus without the messages up to an offset, as after retention. It counts the messages that are read.
final class PrunedBus: ForwardingEngine {
    let inner: EventBus
    private let removed: UInt64
    private let count = Mutex(0)

    init(_ bus: EventBus, removedThrough removed: UInt64 = 0) {
        inner = bus
        self.removed = removed
    }

    var readCount: Int { count.withLock(\.self) }

    func withSubscription<Result: Sendable>(
        to filters: [MessageFilter], from start: StartPosition, until end: Position?,
        onNotice: (@Sendable (SubscriptionNotice) -> Void)?,
        _ body: (MessageSequence) async throws -> Result
    ) async throws -> Result {
        try await inner.withSubscription(to: filters, from: start, until: end, onNotice: onNotice) { messages in
            try await body(
                MessageSequence { [self] in
                    var iterator = messages.makeAsyncIterator()
                    while let message = try await iterator.next() {
                        guard message.position?.offset ?? .max > removed else { continue }
                        count.withLock { $0 += 1 }
                        return Delivery(message)
                    }
                    return nil
                })
        }
    }
}
