import EventBus
import TestSupport
import Testing

@testable import NATSLayout

@Suite("Reader of the journal")
struct ReadTrackerTests {
    private typealias Delivery = ReadTracker.Delivery

    private func delivery(_ tracker: ReadTracker, _ consumer: UInt64, _ stream: UInt64, pending: UInt64 = 1) -> Delivery
    {
        Delivery(
            generation: tracker.generation, consumerSequence: consumer, streamSequence: stream, pending: pending)
    }

    private func tracker(after start: UInt64 = 0, until end: UInt64? = nil, pending: UInt64 = 1) -> ReadTracker {
        var tracker = ReadTracker(after: start, until: end)
        _ = tracker.begin(connection: 1, pending: pending)
        return tracker
    }

    @Test("Messages are delivered in order, and the reader starts again after a gap")
    func gap() {
        var tracker = tracker()
        #expect(tracker.receive(delivery(tracker, 1, 5), connection: 1) == .deliver)
        #expect(tracker.receive(delivery(tracker, 2, 9), connection: 1) == .deliver)
        #expect(tracker.receive(delivery(tracker, 2, 9), connection: 1) == .ignore)
        #expect(tracker.receive(delivery(tracker, 4, 12), connection: 1) == .renew(from: 10))
        #expect(tracker.receive(delivery(tracker, 3, 11), connection: 1) == .ignore)
        let old = delivery(tracker, 5, 13)
        #expect(tracker.begin(connection: 1, pending: 3) == 2)
        #expect(tracker.receive(old, connection: 1) == .ignore)
        #expect(tracker.receive(delivery(tracker, 1, 11), connection: 1) == .deliver)
    }

    @Test("The reader starts again after a reconnection, and after a heartbeat that is ahead")
    func renewals() {
        var tracker = tracker()
        #expect(tracker.receive(delivery(tracker, 1, 5), connection: 2) == .renew(from: 1))
        tracker = self.tracker()
        #expect(tracker.heartbeat(generation: 1, lastConsumerSequence: 0, connection: 1) == .ignore)
        #expect(
            tracker.heartbeat(generation: 1, lastConsumerSequence: 1, connection: 1) == .renew(from: 1),
            "a delivery is missing")
        tracker = self.tracker()
        #expect(tracker.heartbeat(generation: 1, lastConsumerSequence: 0, connection: 2) == .renew(from: 1))
    }

    @Test("The reader ends when a later message arrives, or when no more are pending")
    func end() {
        let end = StreamPosition.end(of: 20)
        var tracker = tracker(until: end)
        #expect(!tracker.isAtEnd && !tracker.shouldAskForEnd)
        #expect(tracker.receive(delivery(tracker, 1, 19), connection: 1) == .deliver)
        #expect(!tracker.isAtEnd)
        #expect(tracker.receive(delivery(tracker, 2, 22), connection: 1) == .deliver)
        #expect(tracker.isAtEnd && !tracker.isWanted(StreamPosition.end(of: 22)) && tracker.isWanted(end))
        tracker = self.tracker(until: end, pending: 0)
        #expect(tracker.shouldAskForEnd)
        tracker.record(journalEnd: StreamPosition.end(of: 15), pending: 0, lastConsumerSequence: 0)
        #expect(!tracker.isAtEnd && tracker.shouldAskForEnd)
        tracker.record(journalEnd: StreamPosition.end(of: 25), pending: 0, lastConsumerSequence: 1)
        #expect(!tracker.isAtEnd, "a delivery is on its way")
        tracker.record(journalEnd: StreamPosition.end(of: 25), pending: 1, lastConsumerSequence: 0)
        #expect(!tracker.isAtEnd)
        tracker.record(journalEnd: StreamPosition.end(of: 25), pending: 0, lastConsumerSequence: 0)
        #expect(tracker.isAtEnd && !tracker.shouldAskForEnd)
        #expect(ReadTracker(after: end, until: end).isAtEnd)
    }

    @Test("The reader begins within a batch, and reports messages that were removed before it read them")
    func removed() {
        var tracker = tracker(after: 10 * 1024 + 500)
        #expect(tracker.nextSequence == 10)
        #expect(!tracker.isWanted(10 * 1024 + 500) && tracker.isWanted(10 * 1024 + 501))
        #expect(tracker.handle(firstSequence: 10) == nil)
        #expect(tracker.handle(firstSequence: 13) == StreamPosition.end(of: 12))
        #expect(tracker.handle(firstSequence: 13) == nil)
        #expect(tracker.nextSequence == 13)
        var fresh = ReadTracker(after: StreamPosition.end(of: 7))
        #expect(fresh.handle(firstSequence: 8) == nil)
    }

    @Test(
        "Every message is delivered once and in order, in random histories with losses and repeats", arguments: 0..<40)
    func random(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        // The sequences of the stream that match the reader's filters.
        let matching = (1...300).filter { _ in generator.chance(2, in: 3) }.map { UInt64($0) }
        var tracker = ReadTracker(after: 0)
        var received: [UInt64] = []
        var connection = 1
        var late: [Delivery] = []
        var next = 0
        var sequence: UInt64 = 0
        var renewals = 0
        func renew(from start: UInt64) {
            _ = tracker.begin(connection: connection, pending: 1)
            next = matching.firstIndex { $0 >= start } ?? matching.count
            sequence = 0
            renewals += 1
        }
        renew(from: 1)
        var steps = 0
        while received.count < matching.count, steps < 100_000 {
            steps += 1
            switch Int.random(in: 0..<20, using: &generator) {
            case 0 where steps < 50_000: connection += 1
            case 1:
                guard let old = late.randomElement(using: &generator) else { continue }
                switch tracker.receive(old, connection: connection) {
                case .deliver: received.append(old.streamSequence)
                case .renew(let start): renew(from: start)
                case .ignore: break
                }
            case 2:
                if case .renew(let start) = tracker.heartbeat(
                    generation: tracker.generation, lastConsumerSequence: sequence, connection: connection)
                {
                    renew(from: start)
                }
            default:
                guard next < matching.count else {
                    let decision = tracker.heartbeat(
                        generation: tracker.generation, lastConsumerSequence: sequence, connection: connection)
                    if case .renew(let start) = decision { renew(from: start) }
                    continue
                }
                sequence += 1
                let delivery = delivery(tracker, sequence, matching[next])
                next += 1
                late.append(delivery)
                if generator.chance(1, in: 15) { continue }
                switch tracker.receive(delivery, connection: connection) {
                case .deliver: received.append(delivery.streamSequence)
                case .renew(let start): renew(from: start)
                case .ignore: break
                }
            }
        }
        #expect(received == matching)
        #expect(renewals > 1)
    }
}
