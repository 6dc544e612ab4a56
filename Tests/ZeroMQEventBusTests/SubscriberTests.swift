import BusProtocol
import EventBus
import Testing

@testable import ZeroMQEventBus

@Suite("What waits for a reader")
struct SubscriberTests {
    private func subscriber(_ start: FeedTracker.Start, head: UInt64) -> Subscriber {
        let tracker = FeedTracker(prefixes: ["event.A."], start: start, head: head)
        return Subscriber(tracker: tracker, prefixes: ["event.A."], claim: nil, head: head)
    }

    @Test("large messages are no more than fit: the next page is read when the reader has taken some")
    func largeMessages() {
        let subscriber = subscriber(.after(Position(epoch: 0, offset: 0)), head: 9)
        #expect(subscriber.nextRead == .journal(after: 0))
        let large = FeedMessage(
            topic: "event.A.00", epoch: 1, offset: 1, previous: 0, header: [1],
            data: Bytes(repeating: 7, count: Subscriber.capacitySize / 2))
        subscriber.receive(Page(epoch: 1, through: 1, isComplete: false, messages: [large]))
        #expect(subscriber.nextRead == nil)
        #expect(subscriber.takeBuffered().map(\.message.offset) == [1])
        #expect(subscriber.nextRead == .journal(after: 1))
    }

    @Test("a live message for which there are too many bytes waits in the journal")
    func largeLiveMessages() {
        let subscriber = subscriber(.now, head: 0)
        let data = Bytes(repeating: 7, count: Subscriber.capacitySize)
        let messages = (1...2).map { offset in
            FeedMessage(topic: "event.A.00", epoch: 1, offset: offset, previous: offset - 1, header: [1], data: data)
        }
        subscriber.receive(live: [messages[0]])
        subscriber.receive(live: [messages[1]])
        #expect(subscriber.takeBuffered().map(\.message.offset) == [1])
        #expect(subscriber.nextRead == .journal(after: 0))
    }

    @Test("the wait for the last message ends when a look at the heads shows that nothing else is to come")
    func end() async throws {
        let tracker = FeedTracker(prefixes: ["event.A."], start: .now, head: 3)
        let subscriber = Subscriber(tracker: tracker, prefixes: ["event.A."], claim: nil, head: 3, end: 5)
        let deliveries = try await withCheckedThrowingContinuation { continuation in
            subscriber.next(continuation, wait: 1)
            subscriber.tracker.note(Heads(epoch: 1, through: 6, offsets: ["event.B.00": 6]))
            subscriber.judge()
        }
        #expect(deliveries.isEmpty)
    }

    @Test("an end in a journal that was replaced will not come: the messages fail", arguments: [true, false])
    func replaced(isWaiting: Bool) async throws {
        let tracker = FeedTracker(prefixes: ["event.A."], start: .now, head: 3)
        let subscriber = Subscriber(tracker: tracker, prefixes: ["event.A."], claim: nil, head: 3, end: 5)
        if !isWaiting { subscriber.restart() }
        let error = await #expect(throws: BusError.self) {
            _ = try await withCheckedThrowingContinuation { continuation in
                subscriber.next(continuation, wait: 1)
                if isWaiting { subscriber.restart() }
            }
        }
        #expect(error?.code == .epoch && subscriber.nextRead == nil && subscriber.takeBuffered().isEmpty)
    }

    @Test("a cancellation that comes late does not end the next wait")
    func lateCancellation() async throws {
        let subscriber = subscriber(.now, head: 0)
        let message = FeedMessage(topic: "event.A.00", epoch: 1, offset: 1, previous: 0, header: [1], data: [2])
        let deliveries = try await withCheckedThrowingContinuation { continuation in
            subscriber.next(continuation, wait: 2)
            subscriber.cancel(wait: 1)
            subscriber.receive(live: [message])
        }
        #expect(deliveries.map(\.message.offset) == [1])
        await #expect(throws: CancellationError.self) {
            try await withCheckedThrowingContinuation { continuation in
                subscriber.next(continuation, wait: 3)
                subscriber.cancel(wait: 3)
            }
        }
    }
}
