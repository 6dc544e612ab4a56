import Contracts
import EventBus
import Foundation
import GatewayTestSupport
import HTTPClient
import HTTPTypes
import PageTestSupport
import Support
import Synchronization
import TestSupport
import Testing
import WebPage

@testable import WebInspector

/// A bus on which documents and dead letters can be held back.
private final class SlowBus: ForwardingEngine {
    let inner: EventBus
    private let gates = Mutex<[Latch]?>(nil)
    private let (held, holding) = AsyncStream.makeStream(of: Int.self)

    init(_ bus: EventBus) { inner = bus }

    func hold() { gates.withLock { $0 = [] } }

    func release() {
        let gates = gates.withLock { gates in
            defer { gates = nil }
            return gates ?? []
        }
        for gate in gates { gate.open() }
    }

    /// Returns when so many requests are held back.
    func waitForHeld(_ count: Int) async { _ = await held.first { $0 >= count } }

    func documents(
        matching filters: [MessageFilter], after offset: UInt64, limit: Int
    ) async throws -> [Envelope] {
        try await wait()
        return try await inner.documents(matching: filters, after: offset, limit: limit)
    }

    func deadLetterCount(of consumer: String?) async throws -> Int {
        try await wait()
        return try await inner.inspect.deadLetterCount(of: consumer)
    }

    func deadLetterSummaries(
        of consumer: String?, after id: DeadLetter.ID, limit: Int
    ) async throws -> [DeadLetter.Summary] {
        try await wait()
        return try await inner.inspect.deadLetterSummaries(of: consumer, after: id, limit: limit)
    }

    private func wait() async throws {
        let gate = Latch()
        let count = gates.withLock { gates in
            gates?.append(gate)
            return gates?.count
        }
        guard let count else { return }
        holding.yield(count)
        try await gate.waitUntilOpen()
    }
}

@Suite("Processes of the page", .timeLimit(.minutes(2)))
struct ProcessViewTests {
    @Test("An update contains only values that have changed")
    func changes() throws {
        var view = ProcessesView()
        func update() throws -> JSONValue? {
            let bytes = view.dequeueUpdate(size: .max)
            return try bytes.map { try JSONValue(parsing: Data($0)) }
        }
        view.show([("dead", Array("0".utf8)), ("processes", Array("[]".utf8))])
        #expect(try update() == ["dead": 0, "processes": []])
        view.show([("dead", Array("1".utf8)), ("processes", Array("[]".utf8))])
        #expect(try update() == ["dead": 1])
        #expect(try update() == nil)
    }

    @Test("Metrics are answered while the maximum of requests waits for the bus")
    func busyMetrics() async throws {
        let bus = SlowBus(EventBus.inMemory(source: "web-gateway/1"))
        try await withGateway(bus.bus) { page in
            while !(try await page.get("/metrics").text.contains("segue_dead_letters 0")) {}
            bus.hold()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<RequestPermits.limit {
                    group.addTask { _ = try await page.get("/api/types") }
                }
                await bus.waitForHeld(RequestPermits.limit)
                #expect(try await page.get("/api/types").status == .tooManyRequests)
                let metrics = try await page.get("/metrics")
                #expect(metrics.status == .ok && metrics.text.contains("segue_dead_letters 0"))
                bus.release()
                try await group.waitForAll()
            }
        }
    }

    @Test("A page of the processes has their metrics, which are requested only while it is open")
    func processes() async throws {
        let hub = InMemoryHub()
        let process = EventBus.inMemory(source: "music/i1", hub: hub)
        for instance in ["i1", "i2"] {
            try await process.publish(
                Document.Presence(name: "music", version: "1", instance: instance, pid: 1, receives: [], sends: []))
        }
        try await withGateway(EventBus.inMemory(source: "web-gateway/1", hub: hub)) { page in
            let filters: [MessageFilter] = [
                .type(DomainEvent.MetricsRequested.self), .type(DomainEvent.LaunchFinished.self),
            ]
            try await process.withSubscription(to: filters, from: .now) { messages in
                let stream = try page.stream("abcdefgh")
                defer { stream.close() }
                #expect(try await stream.next()?.name == "hello")
                try await process.publish(DomainEvent.LaunchFinished())
                #expect(try await messages.first?.type == DomainEvent.LaunchFinished.type)
                let view: JSONValue = ["id": "p", "kind": "processes"]
                _ = try await page.post("/api/stream/abcdefgh/views", ["open": [view]])
                func handled() async throws -> [JSONValue?]? {
                    try await stream.next()?.data.value(at: "views.p.processes")?.arrayValue?.map { $0["handled"] }
                }
                #expect(try await handled() == [.null, .null])
                #expect(try await messages.first?.type == DomainEvent.MetricsRequested.type)
                let metrics = DomainEvent.MetricsReported(instance: "i1", handled: 7, failed: 0, lag: 0)
                try await process.publishTransient([Envelope(metrics, source: process.source)])
                while try await handled() != [7, .null] {}
            }
        }
    }

    @Test("A page has the rates of each second while the bus does not answer for the dead letters")
    func slowLetters() async throws {
        let bus = SlowBus(EventBus.inMemory(source: "web-gateway/1"))
        try await withGateway(bus.bus) { page in
            let stream = try page.stream("abcdefgh")
            defer { stream.close() }
            #expect(try await stream.next()?.name == "hello")
            bus.hold()
            let view: JSONValue = ["id": "p", "kind": "processes"]
            _ = try await page.post("/api/stream/abcdefgh/views", ["open": [view]])
            await bus.waitForHeld(1)
            // Without a check: the contracts are documents, which are held back, too.
            let note: JSONValue = ["type": "event.TestNoted", "data": [:], "check": false]
            #expect(try await page.post("/api/messages", note).status == .ok)
            var rates: [JSONValue] = []
            while !rates.contains(1), let event = try await stream.next() {
                rates = event.data.value(at: "views.p.rates.event")?.arrayValue ?? []
            }
            bus.release()
            #expect(rates.contains(1))
        }
    }

    @Test("A request beyond the limit is refused until one of the others has ended")
    func turns() throws {
        let turns = RequestPermits()
        for _ in 0..<RequestPermits.limit { try turns.acquire() }
        #expect(throws: RequestError.self) { try turns.acquire() }
        turns.release()
        try turns.acquire()
    }
}
