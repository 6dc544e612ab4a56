import BusConformance
import Foundation
import Support
import TestSupport
import Testing

@testable import EventBus

@Suite("A hub that is saved and restored")
struct SavedHubTests {
    private static let state = MessageType(kind: .document, name: "State")
    private static let tick = MessageType(kind: .event, name: "Tick")

    private func message(_ type: MessageType, _ text: String = "{}", key: String? = nil) -> Envelope {
        var attributes = Attributes(type: type, source: "test/1")
        attributes.key = key
        return Envelope(attributes: attributes, data: Data(text.utf8))
    }

    private func restored(_ hub: InMemoryHub) async throws -> InMemoryEventBus {
        let data = try await hub.saved().data()
        return InMemoryEventBus(source: "test/2", hub: InMemoryHub(try SavedHub(data)))
    }

    @Test("A restored hub has its documents, and its positions continue in the same journal")
    func documents() async throws {
        let bus = InMemoryEventBus(source: "test/1")
        try await bus.publish(Batch([message(Self.state, "1", key: "a"), message(Self.state, "2", key: "b")]))
        try await bus.publish(Batch([message(Self.state, "3", key: "a"), message(Self.tick)]))
        let former = try await bus.documents(matching: [.all])
        let end = await bus.hub.end

        let next = try await restored(bus.hub)
        #expect(try await next.documents(matching: [.all]).map(\.data) == former.map(\.data))
        #expect(try await next.documents(matching: [.all]).map(\.position) == former.map(\.position))
        #expect(try await next.document(Self.state, subject: "default", key: "a")?.data == Data("3".utf8))
        #expect(try await next.bus.inspect.newest(matching: [.type(Self.tick)]) == end)
        let position = try await next.publish(Batch([message(Self.tick)]))
        #expect(position.epoch == end.epoch && position.offset == end.offset + 1)
    }

    @Test("A restored hub withdraws leased documents, because their publishers have ended")
    func leases() async throws {
        let bus = InMemoryEventBus(source: "test/1")
        try await bus.publish(Batch([message(Self.state, "1", key: "leased")], isLeased: true))
        try await bus.publish(Batch([message(Self.state, "2", key: "kept")]))
        let next = try await restored(bus.hub)
        #expect(try await next.documents(matching: [.all]).map(\.attributes.key) == ["kept"])
        let (last, end) = try await next.withSubscription(to: [.all], from: .beginning) { messages in
            let withdrawal = try await messages.first { $0.isTombstone }
            return (withdrawal, await next.hub.end)
        }
        #expect(last?.attributes.key == "leased" && last?.position == end)
    }

    @Test("A restored hub delivers to each durable consumer exactly the messages that it had not handled")
    func progress() async throws {
        let bus = InMemoryEventBus(source: "test/1")
        let claim = try await bus.claim(consumer: "worker", as: .shared)
        for number in 1...4 { try await bus.publish(Batch([message(Self.tick, "\(number)")])) }
        try await bus.withSubscription(to: [.type(Self.tick)], under: claim) { messages in
            for try await message in messages where message.data == Data("2".utf8) {
                let checkpoint = try #require(Checkpoint(claim: claim, handled: Delivery(message)))
                try await bus.publish(Batch([], checkpoint: checkpoint))
                break
            }
        }
        let next = try await restored(bus.hub)
        #expect(try await next.consumers().map(\.position.offset) == [2])
        #expect(try await next.consumers().map(\.memberCount) == [0])
        let claimed = try await next.claim(consumer: "worker", as: .shared)
        #expect(claimed.ownerGeneration > claim.ownerGeneration)
        let left = try await next.withSubscription(to: [.type(Self.tick)], under: claimed) { messages in
            try await messages.prefix(2).reduce(into: []) { $0.append($1) }
        }
        #expect(left.map(\.data) == [Data("3".utf8), Data("4".utf8)])
        #expect(left.map(\.position?.offset) == [3, 4])
    }

    @Test("A saved hub keeps no message that every durable consumer has handled")
    func handled() async throws {
        let bus = InMemoryEventBus(source: "test/1")
        for _ in 1...5 { try await bus.publish(Batch([message(Self.tick)])) }
        #expect(try await journal(of: bus.hub).isEmpty, "there is no consumer")
        _ = try await bus.claim(consumer: "worker")
        #expect(try await journal(of: bus.hub).count == 5)
    }

    @Test("A saved hub keeps, for a waiting consumer, only messages from its oldest unfinished one")
    func waiting() async throws {
        let bus = InMemoryEventBus(source: "test/1")
        let claim = try await bus.claim(consumer: "worker")
        let progress = ConsumerProgress()
        try await bus.withSubscription(to: [.type(Self.tick)], under: claim, progress: progress) { messages in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for try await message in messages { progress.oldestUnfinished = message.position?.offset }
                }
                try await bus.publish(Batch([message(Self.state), message(Self.state)]))
                while try await journal(of: bus.hub).count != 0 { await Task.yield() }
                try await bus.publish(Batch([message(Self.state), message(Self.tick), message(Self.state)]))
                while try await journal(of: bus.hub).count != 2 { await Task.yield() }
                group.cancelAll()
            }
        }
        #expect(try await restored(bus.hub).consumers().map(\.position.offset) == [3])
        #expect(try await bus.consumers().map(\.position.offset) == [0], "the consumer itself has recorded nothing")
    }

    private func journal(of hub: InMemoryHub) async throws -> [JSONValue] {
        let json = try JSONDecoder().decode(JSONValue.self, from: try await hub.saved().data())
        guard case .object(let fields) = json, case .array(let journal) = fields["journal"] else { return [] }
        return journal
    }

    @Test("A restored hub has its dead letters, and continues their numbers")
    func deadLetters() async throws {
        let bus = InMemoryEventBus(source: "test/1")
        let claim = try await bus.claim(consumer: "worker")
        func giveUp(_ claim: ConsumerClaim, on bus: InMemoryEventBus) async throws {
            let position = try await bus.publish(Batch([message(Self.tick)]))
            let rejection = Rejection(code: "no.use", reason: "it is of no use", attempts: 2)
            let checkpoint = Checkpoint(
                claim: claim, position: position, partition: Partition(subject: "default"), previous: nil,
                settled: position.offset)
            try await bus.publish(Batch([], checkpoint: checkpoint, rejection: rejection))
        }
        try await giveUp(claim, on: bus)
        let former = try await bus.bus.inspect.deadLetters(of: nil)
        let next = try await restored(bus.hub)
        let deadLetters = try await next.bus.inspect.deadLetters(of: nil)
        #expect(deadLetters.map(\.id) == former.map(\.id) && deadLetters.map(\.rejection) == former.map(\.rejection))
        #expect(deadLetters.map(\.message.id) == former.map(\.message.id))
        try await giveUp(try await next.claim(consumer: "worker"), on: next)
        #expect(try await next.bus.inspect.deadLetters(of: nil).map(\.id) == [1, 2])
    }

    @Test("A hub signals when there are changes to save")
    func changes() async throws {
        let bus = InMemoryEventBus(source: "test/1")
        var changes = await bus.hub.changes().makeAsyncIterator()
        try await bus.publish(Batch([message(Self.state)]))
        try await bus.publish(Batch([message(Self.state)]))
        await changes.next()
        let claim = try await bus.claim(consumer: "worker")
        try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, upTo: await bus.hub.end)))
        await changes.next()
        try await bus.publishTransient([message(Self.tick)])
        try await bus.publish(Batch([message(Self.tick)]))
        await changes.next()
        #expect(try await journal(of: bus.hub).count == 1)
    }

    /// The saved content of a hub with everything that a hub can have.
    private func sample() async throws -> Data {
        let bus = InMemoryEventBus(source: "test/1")
        let claim = try await bus.claim(consumer: "worker")
        _ = try await bus.claim(consumer: "idle")
        try await bus.publish(Batch([message(Self.state, key: "a")], isLeased: true))
        let position = try await bus.publish(Batch([message(Self.tick)]))
        let checkpoint = Checkpoint(
            claim: claim, position: position, partition: Partition(subject: "default"), previous: nil,
            settled: position.offset)
        let rejection = Rejection(code: "no.use", reason: "it is of no use", attempts: 1)
        try await bus.publish(Batch([], checkpoint: checkpoint, rejection: rejection))
        return try await bus.hub.saved().data()
    }

    @Test(
        "Content that cannot have been saved is refused in one line",
        arguments: [
            (#""format":"segue-bus""#, #""format":"other""#), (#""version":1"#, #""version":2"#),
            (#""version":1"#, #""version":"1""#), (#""epoch":"#, #""epoch":0,"was":"#),
            (#""base":0"#, #""base":18446744073709551615"#), (#""base":0"#, #""base":9223372036854775807"#),
            (#""base":0"#, #""base":1"#), (#""base":0"#, #""base":-1"#),
            (#""event.Tick":2"#, #""event.Tick":3"#), (#""event.Tick":2"#, #""tick":2"#),
            (#""ownerEpoch":1"#, #""ownerEpoch":18446744073709551615"#), (#""handled":[0"#, #""handled":[3"#),
            (#""handled":[0"#, #""handled":[0,0"#), (#""lastLetter":1"#, #""lastLetter":0"#),
            (#""lastLetter":1"#, #""lastLetter":9223372036854775807"#), (#""idle":"#, #""":"#),
            (#""isLeased":true,"offset":1"#, #""isLeased":true,"offset":9"#),
            (#""specversion":"1.0""#, #""specversion":"9.0""#), (#""key":"a""#, "\"key\":\"\u{0}a\""),
            (#""documents":["#, #""documents":[{"#), ("{", ""),
        ])
    func refusals(old: String, new: String) async throws {
        let text = String(decoding: try await sample(), as: UTF8.self)
        try #require(text.contains(old), "\(text)")
        let range = try #require(text.firstRange(of: old))
        let error = #expect(throws: BusError.self) {
            try SavedHub(Data(text.replacingCharacters(in: range, with: new).utf8))
        }
        #expect(error?.code == .malformed)
        #expect(error?.message.contains("\n") == false)
    }

    @Test("Damaged content is refused or read, and never ends the process")
    func damage() async throws {
        let data = try await sample()
        var generator = SeededGenerator(seed: 20)
        for _ in 0..<500 {
            var damaged = data
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let digits = Array("0123456789{}[]\",:-eE".utf8)
                damaged[Int.random(in: damaged.indices, using: &generator)] =
                    digits.randomElement(using: &generator) ?? 0
            }
            do throws(BusError) {
                let bus = InMemoryEventBus(source: "test/2", hub: InMemoryHub(try SavedHub(damaged)))
                _ = try? await bus.claim(consumer: "worker")
                _ = try? await bus.publish(Batch([message(Self.tick)]))
            } catch {
                #expect(error.code == .malformed)
            }
        }
        for count in 0..<data.count where count % 7 == 0 {
            #expect(throws: BusError.self) { try SavedHub(data.prefix(count)) }
        }
    }

    @Test("A journal with a limit drops old messages, except those that a consumer has not handled")
    func limit() async throws {
        let bus = InMemoryEventBus(source: "test/1", hub: InMemoryHub(journalLimit: 10))
        func publish(_ numbers: ClosedRange<Int>) async throws {
            for number in numbers { try await bus.publish(Batch([message(Self.tick, "\(number)")])) }
        }
        func kept() async throws -> [Int] {
            let end = await bus.hub.end
            return try await bus.withSubscription(to: [.all], from: .beginning, until: end, onNotice: nil) { messages in
                try await messages.reduce(into: []) { $0.append(Int(String(decoding: $1.data, as: UTF8.self)) ?? 0) }
            }
        }
        try await publish(1...50)
        let first = try await kept()
        #expect(first.count <= 21 && first.last == 50 && first.first == 51 - first.count)
        _ = try await bus.claim(consumer: "worker")
        let claim = try await bus.claim(consumer: "worker")
        try await publish(51...100)
        #expect(try await kept().count == first.count + 50, "the consumer has handled nothing")
        try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, upTo: await bus.hub.end)))
        try await publish(101...101)
        #expect(try await kept() == Array(91...101))
        let from = Position(epoch: await bus.hub.end.epoch, offset: 3)
        let next = try await bus.withSubscription(to: [.all], from: .after(from)) { try await $0.first }
        #expect(next?.data == Data("91".utf8), "a reader from a removed position begins with the oldest message")
    }

    @Test("A journal with a limit keeps no messages for a consumer that no process runs")
    func absentConsumer() async throws {
        let hub = InMemoryHub(journalLimit: 10)
        let bus = InMemoryEventBus(source: "test/1", hub: hub)
        let former = InMemoryEventBus(source: "test/2", hub: hub)
        _ = try await former.claim(consumer: "worker", as: .shared)
        await hub.close(former.id)
        for number in 1...100 { try await bus.publish(Batch([message(Self.tick, "\(number)")])) }
        let end = await hub.end
        let kept = try await bus.withSubscription(to: [.all], from: .beginning, until: end, onNotice: nil) { messages in
            try await messages.reduce(0) { count, _ in count + 1 }
        }
        #expect(kept <= 21)
        #expect(try await bus.position(end, offsetBy: -50).offset == 0)
        #expect(try await bus.position(end, offsetBy: -5).offset == 95)
    }
}
