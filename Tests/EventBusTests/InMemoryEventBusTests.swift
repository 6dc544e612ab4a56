import BusConformance
import EventBus
import Foundation
import Support
import Testing

@Suite("In-memory bus")
struct InMemoryEventBusTests {
    enum HubKind: CaseIterable {
        case new, withGaps, withJournalLimit, restored

        /// A hub without messages.
        func make() async throws -> InMemoryHub {
            switch self {
            case .new: return InMemoryHub()
            case .withGaps: return InMemoryHub(maximumGap: 1000)
            case .withJournalLimit: return InMemoryHub(journalLimit: 10_000)
            case .restored:
                let hub = InMemoryHub(journalLimit: 0)
                let bus = InMemoryEventBus(source: "publisher/1", hub: hub)
                let type = MessageType(kind: .error, name: "Former")
                let former = Envelope(attributes: Attributes(type: type, source: bus.source), data: Data("{}".utf8))
                try await bus.publish(Batch(Array(repeating: former, count: 50)))
                return InMemoryHub(try SavedHub(await hub.saved().data()))
            }
        }
    }

    @Test(
        "The in-memory bus keeps the guarantees of every bus", .timeLimit(.minutes(1)),
        arguments: ConformanceCase.all(with: .all.subtracting(.survivesRestart)), HubKind.allCases)
    func conforms(_ conformanceCase: ConformanceCase, kind: HubKind) async throws {
        let hub = try await kind.make()
        try await conformanceCase.run { source in .inMemory(source: source, hub: hub) }
    }

    @Test("A hub with a maximum gap leaves out offsets between batches, but not in a batch")
    func gaps() async throws {
        let bus = InMemoryEventBus(source: "publisher/1", hub: InMemoryHub(maximumGap: 1000))
        let type = MessageType(kind: .event, name: "Tick")
        let tick = Envelope(attributes: Attributes(type: type, source: bus.source), data: Data("{}".utf8))
        var (ends, gaps) = ([UInt64(0)], [UInt64]())
        for _ in 0..<20 {
            let end = try await bus.publish(Batch([tick, tick, tick])).offset
            gaps.append(end - 3 - (ends.last ?? 0))
            ends.append(end)
        }
        #expect(gaps.allSatisfy { $0 <= 1000 } && Set(gaps).count > 1)
        let read = try await bus.withSubscription(to: [.all], from: .beginning) { messages in
            var offsets: [UInt64] = []
            for try await message in messages {
                offsets += [message.position?.offset].compactMap(\.self)
                if offsets.count == 60 { break }
            }
            return offsets
        }
        #expect(read == ends.dropFirst().flatMap { [$0 - 2, $0 - 1, $0] })
    }

    @Test("A bus whose process has ended refuses to publish, and its readers fail")
    func closedAfterRun() async throws {
        let bus = InMemoryEventBus(source: "gone/1")
        try await bus.withSubscription(to: [.all], from: .now) { messages in
            await bus.close()
            let reading = await #expect(throws: BusError.self) { for try await _ in messages {} }
            #expect(reading?.code == .closed)
        }
        let publishing = await #expect(throws: BusError.self) { try await bus.publish(Batch([])) }
        #expect(publishing?.code == .closed)
    }

    @Test("A query is not recorded")
    func refusesQueries() async throws {
        let bus = InMemoryEventBus(source: "asker/1")
        let type = MessageType(kind: .query, name: "Anything")
        let query = Envelope(attributes: Attributes(type: type, source: bus.source), data: .init("{}".utf8))
        let error = await #expect(throws: BusError.self) { try await bus.publish(Batch([query])) }
        #expect(error?.code == .refused)
        #expect(await bus.hub.end.offset == 0)
    }

    @Test("A reader that is full loses the oldest transient messages, and the hub counts them")
    func transientLoss() async throws {
        let bus = InMemoryEventBus(source: "publisher/1")
        let type = MessageType(kind: .event, name: "Tick")
        let ids = try await bus.withSubscription(to: [.type(type)], from: .now) { messages in
            for number in 0..<1030 {
                let tick = Attributes(type: type, source: bus.source, id: "\(number)")
                try await bus.publishTransient([Envelope(attributes: tick, data: Data("{}".utf8))])
            }
            var ids: [String] = []
            for try await message in messages {
                ids.append(message.id)
                if message.id == "1029" { break }
            }
            return ids
        }
        #expect(ids == (6..<1030).map(String.init))
        #expect(await bus.hub.lostTransientMessages == 6)
    }

    @Test("A reader that waits records no progress, which stays below its oldest unfinished message")
    func waitingReader() async throws {
        let bus = InMemoryEventBus(source: "consumer/1")
        let type = MessageType(kind: .event, name: "Tick")
        let claim = try await bus.claim(consumer: "reader")
        let progress = ConsumerProgress()
        try await bus.withSubscription(to: [.type(type)], under: claim, progress: progress) { messages in
            let ticks = (1...3).map { Attributes(type: type, source: bus.source, id: "\($0)") }
            try await bus.publish(Batch(ticks.map { Envelope(attributes: $0, data: Data("{}".utf8)) }))
            let taken = Latch()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for try await message in messages where message.id == "3" {
                        progress.oldestUnfinished = 2
                        taken.open()
                    }
                }
                await taken.waitUntilOpenOrCancelled()
                #expect(try await bus.consumers().map(\.position.offset) == [0])
                for (oldest, position) in [(2, 1), (nil, 3)] as [(UInt64?, UInt64)] {
                    progress.oldestUnfinished = oldest
                    let settled = Position(epoch: claim.epoch, offset: progress.settled(delivered: 3))
                    try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, upTo: settled)))
                    #expect(try await bus.consumers().map(\.position.offset) == [position])
                }
                group.cancelAll()
            }
        }
    }

    @Test("A rejection without a checkpoint, or of an unknown message, is refused")
    func rejections() async throws {
        let bus = InMemoryEventBus(source: "consumer/1")
        let claim = try await bus.claim(consumer: "consumer")
        let rejection = Rejection(code: "no.use", reason: "it is of no use", attempts: 1)
        let beyond = Checkpoint(claim: claim, upTo: Position(epoch: claim.epoch, offset: 1))
        let nowhere = Checkpoint(claim: claim, upTo: claim.position)
        let mistakes: [(Batch, BusError.Code)] = [
            (Batch([], checkpoint: nil, rejection: rejection), .refused),
            (Batch([], checkpoint: beyond, rejection: rejection), .epoch),
            (Batch([], checkpoint: nowhere, rejection: rejection), .deadLetter),
        ]
        for (batch, code) in mistakes {
            let error = await #expect(throws: BusError.self) { try await bus.publish(batch) }
            #expect(error?.code == code)
        }
        #expect(try await bus.bus.inspect.deadLetters(of: nil).isEmpty)
        #expect(try await bus.claim(consumer: "consumer").position.offset == 0)
    }
}
