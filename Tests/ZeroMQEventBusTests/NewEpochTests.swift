import Broker
import BusConformance
import BusProtocol
import EventBus
import Foundation
import GRDB
import TestSupport
import Testing

@testable import ZeroMQEventBus

@Suite("Subscriptions in a new epoch")
struct NewEpochTests {
    private static func message(_ offset: UInt64, previous: UInt64, epoch: UInt64 = 1) -> FeedMessage {
        FeedMessage(
            topic: "event.A.00", epoch: epoch, offset: offset, previous: previous, previousInPartition: previous,
            header: [0x7b, 0x7d], data: [])
    }

    private static func tracker(_ start: FeedTracker.Start, head: UInt64 = 10) -> FeedTracker {
        FeedTracker(prefixes: ["event.A."], start: start, head: head)
    }

    @Test(
        "A subscription from now continues after the start of each new epoch")
    func now() {
        var tracker = Self.tracker(.now)
        for start in [6, 3] as [UInt64] {
            tracker.restart(from: start)
            #expect(tracker.phase == .journal(after: start))
            let page = Page(
                epoch: 2, through: start + 2, isComplete: true,
                messages: [Self.message(start + 1, previous: start), Self.message(start + 2, previous: start + 1)])
            let received = tracker.receive(page).map(\.message.offset)
            #expect(received == [start + 1, start + 2])
            #expect(tracker.phase == .live)
        }
    }

    @Test("A subscription from now may receive messages twice that were recorded before the loss was known")
    func twice() {
        var tracker = Self.tracker(.now)
        for offset in 11...13 as ClosedRange<UInt64> {
            let received = tracker.receive(live: [Self.message(offset, previous: offset - 1)], room: 1)
            #expect(received.map(\.message.offset) == [offset])
        }
        // The end of the journal was at 10 when the broker was started.
        tracker.restart(from: 10)
        let page = Page(
            epoch: 2, through: 14, isComplete: true,
            messages: (11...14).map { Self.message($0, previous: $0 - 1, epoch: 2) })
        let received = tracker.receive(page).map(\.message.offset)
        #expect(received == [11, 12, 13, 14], "the client cannot know if it has received these or lost ones")
    }

    @Test("A subscription from retained receives the documents again, then what follows the epoch's start")
    func retained() {
        var tracker = Self.tracker(.documents)
        tracker.restart(from: 6)
        #expect(tracker.phase == .documents(after: 0))
        let documents = Page(
            epoch: 2, through: 9, isComplete: true,
            messages: [Self.message(4, previous: 0), Self.message(8, previous: 4)])
        let received = tracker.receive(documents).map(\.message.offset)
        #expect(received == [4])
        #expect(tracker.phase == .journal(after: 6))
    }

    @Test("Any other subscription starts at the beginning of the journal")
    func beginning() {
        var tracker = Self.tracker(.after(Position(epoch: 0, offset: 7)))
        tracker.restart(from: 6)
        #expect(tracker.phase == .journal(after: 0))
    }

    @Test("Messages that replace lost ones are delivered, and those that are left are not delivered again")
    func lostEnd() {
        var tracker = Self.tracker(.now)
        for offset in 11...14 as ClosedRange<UInt64> {
            _ = tracker.receive(live: [Self.message(offset, previous: offset - 1)], room: 1)
        }
        tracker.record(Heads(epoch: 1, through: 14, offsets: ["event.A.00": 14]))
        tracker.rewind(to: 12)
        #expect(tracker.phase == .journal(after: 10))
        let page = Page(
            epoch: 1, through: 13, isComplete: true,
            messages: (11...13).map { Self.message($0, previous: $0 - 1) })
        let received = tracker.receive(page).map(\.message.offset)
        #expect(received == [13])
        #expect(tracker.phase == .live)
        let next = tracker.receive(live: [Self.message(14, previous: 13)], room: 1)
        #expect(next.map(\.message.offset) == [14])
        let isMissing = tracker.judge()
        #expect(!isMissing, "heads from before the loss are ignored")
    }

    @Test("A page that was requested before the loss is requested again")
    func pageUnderWay() {
        let plan = Subscription.Plan(prefixes: ["event.A."], start: .after(Position(epoch: 1, offset: 20)))
        var subscription = Subscription(plan, id: 1, head: 30)
        subscription.recordRead(2)
        subscription.rewind(to: 12)
        #expect(subscription.nextRead == .journal(after: 12))
        #expect(subscription.polledThrough == 12)
    }

    /// Begins a new epoch in the journal, as a broker does when the journal has lost its end. Call it while no broker
    /// runs.
    private func renewEpoch(of broker: TestBroker) throws {
        try execute(
            """
            UPDATE journal SET value = value + 1 WHERE key = 'epoch';
            UPDATE journal SET value = (SELECT max(offset) FROM messages) WHERE key = 'start';
            """, on: DatabaseQueue(path: broker.journal))
    }

    private func execute(_ sql: String, on database: DatabaseQueue) throws {
        try database.write { try $0.execute(sql: sql) }
    }

    /// Runs a broker for as long as `body` runs.
    /// - Parameters:
    ///   - prepare: Called before each start, with the number of starts before it.
    ///   - body: Receives a client, and a function that restarts the broker.
    private func withBroker(
        prepare: @escaping @Sendable (TestBroker, Int) throws -> Void,
        _ body: @escaping @Sendable (ZeroMQEventBus, @Sendable () async throws -> Void) async throws -> Void
    ) async throws {
        try await TestBroker.withDirectory { broker in
            let starts = Counter()
            let service = RestartableService { ready in
                try prepare(broker, starts.count)
                starts.increment()
                try await Broker(broker.configuration, logger: .silent).run { ready() }
            }
            let bus = try broker.bus()
            try await service.whileRunning {
                try await bus.whileOpen { try await body(bus) { try await service.restart() } }
            }
        }
    }

    @Test(
        "In a new epoch, a subscription from now receives no message twice, and one from the beginning all again",
        .timeLimit(.minutes(1)), arguments: [true, false])
    func again(isFromNow: Bool) async throws {
        try await withBroker { broker, starts in
            if starts > 0 { try renewEpoch(of: broker) }
        } _: { bus, restart in
            try await bus.withSubscription(to: [.all], from: isFromNow ? .now : .beginning) { messages in
                try await bus.publish(numbers: 0..<10)
                #expect(try await messages.receive(10).numbers == Array(0..<10))
                for end in [20, 30] {
                    try await restart()
                    try await bus.publish(numbers: end - 10..<end)
                    let expected = Array((isFromNow ? end - 10 : 0)..<end)
                    #expect(try await messages.receive(expected.count).numbers == expected)
                }
            }
        }
    }

    @Test(
        "Messages at the offsets of lost ones are delivered, even if no mark shows the loss", .timeLimit(.minutes(1)))
    func reusedOffsets() async throws {
        let copy = try DatabaseQueue()
        try await withBroker { broker, starts in
            if starts == 1 { try DatabaseQueue(path: broker.journal).backup(to: copy) }
            guard starts == 2 else { return }
            // With another key, no earlier mark is valid.
            try execute("UPDATE journal SET value = randomblob(16) WHERE key = 'marks'", on: copy)
            try copy.backup(to: DatabaseQueue(path: broker.journal))
        } _: { bus, restart in
            try await bus.withSubscription(to: [.all], from: .now) { messages in
                try await bus.publish(numbers: 0..<10)
                try await restart()
                try await bus.publish(numbers: 10..<20)
                #expect(try await messages.receive(20).numbers == Array(0..<20))
                let epoch = await bus.epoch
                try await restart()
                // A message that is published before the client has noticed the loss may not be delivered.
                await bus.waitUntil { $0.machine.journal.lastSeen == 10 }
                try await bus.publish(numbers: 20..<30)
                #expect(try await messages.receive(10).numbers == Array(20..<30))
                #expect(await bus.epoch == epoch)
            }
        }
    }

    /// A leased document.
    private struct Held: DocumentMessage {
        let number: Int
    }

    @Test(
        "Leased documents that the journal has lost are published again", .timeLimit(.minutes(1)),
        arguments: [true, false])
    func leases(isNewJournal: Bool) async throws {
        try await TestBroker.withDirectory { broker in
            let bus = try broker.bus()
            try await bus.whileOpen {
                try await broker.run {
                    for number in 1...2 {
                        try await bus.publish(
                            Batch([try Envelope(Held(number: number), source: "test/1")], isLeased: true))
                    }
                }
                if isNewJournal {
                    broker.deleteJournal()
                } else {
                    try execute("DELETE FROM documents", on: DatabaseQueue(path: broker.journal))
                }
                let watcher = try broker.bus("watcher/1")
                let number = try await broker.run {
                    try await watcher.whileOpen {
                        try await watcher.withSubscription(to: [.type(Held.self)], from: .retained) { messages in
                            var iterator = messages.makeAsyncIterator()
                            return try await iterator.next()?.decode(Held.self).number
                        }
                    }
                }
                #expect(number == 2)
            }
        }
    }
}

extension ZeroMQEventBus {
    fileprivate var epoch: UInt64 { machine.journal.epoch }
}
