import BusFormat
import BusProtocol
import EventBus
import Testing

@testable import ZeroMQEventBus

@Suite("Buffer of a subscription")
struct SubscriptionTests {
    private func subscription(_ start: FeedTracker.Start, head: UInt64, end: UInt64? = nil) -> Subscription {
        let end = end.map { Position(epoch: 1, offset: $0) }
        return Subscription(Subscription.Plan(prefixes: ["event.A."], start: start, end: end), id: 1, head: head)
    }

    @Test("A page is read only when the large messages before it have been received")
    func largeMessages() {
        var subscription = subscription(.after(Position(epoch: 0, offset: 0)), head: 9)
        #expect(subscription.nextRead == .journal(after: 0))
        let large = FeedMessage(
            topic: "event.A.00", epoch: 1, offset: 1, previous: 0, header: [1],
            data: Bytes(repeating: 7, count: Subscription.capacitySize / 2))
        subscription.recordRead(1)
        _ = subscription.receive(Page(epoch: 1, through: 1, isComplete: false, messages: [large]), to: 1)
        #expect(subscription.nextRead == nil)
        #expect(subscription.dequeueBuffered().map(\.message.offset) == [1])
        #expect(subscription.nextRead == .journal(after: 1))
    }

    @Test("A live message that exceeds the buffer's size is read from the journal later")
    func largeLiveMessages() {
        var subscription = subscription(.now, head: 0)
        let data = Bytes(repeating: 7, count: Subscription.capacitySize)
        let messages = (1...2).map { offset in
            FeedMessage(topic: "event.A.00", epoch: 1, offset: offset, previous: offset - 1, header: [1], data: data)
        }
        subscription.receive(live: [messages[0]])
        subscription.receive(live: [messages[1]])
        #expect(subscription.dequeueBuffered().map(\.message.offset) == [1])
        #expect(subscription.nextRead == .journal(after: 0))
    }

    @Test("The wait for the last message ends when the heads show that no other follows")
    func end() {
        var subscription = subscription(.now, head: 3, end: 5)
        subscription.beginWaiting(1)
        #expect(subscription.handOver()?.offsets == nil)
        subscription.record(Heads(epoch: 1, through: 6, offsets: ["event.B.00": 6]))
        subscription.judge()
        #expect(subscription.handOver()?.offsets == [])
    }

    @Test("A subscription until a position fails if the journal is replaced", arguments: [true, false])
    func replaced(isWaiting: Bool) {
        var subscription = subscription(.now, head: 3, end: 5)
        if isWaiting { subscription.beginWaiting(1) }
        subscription.restart(from: 0)
        if !isWaiting { subscription.beginWaiting(1) }
        #expect(subscription.handOver()?.error?.code == .epoch)
        #expect(subscription.nextRead == nil && subscription.dequeueBuffered().isEmpty)
    }

    @Test("A late cancellation does not end the next wait")
    func lateCancellation() {
        var subscription = subscription(.now, head: 0)
        let message = FeedMessage(topic: "event.A.00", epoch: 1, offset: 1, previous: 0, header: [1], data: [2])
        subscription.beginWaiting(2)
        let isLate = subscription.stopWaiting(1)
        #expect(!isLate)
        subscription.receive(live: [message])
        #expect(subscription.handOver()?.offsets == [1])
        subscription.beginWaiting(3)
        let isCancelled = subscription.stopWaiting(3)
        #expect(isCancelled)
        #expect(subscription.handOver()?.offsets == nil)
    }

    @Test("A late page of another journal, or of a lost part, is ignored")
    func latePage() {
        var subscription = subscription(.documents, head: 9)
        subscription.recordRead(1)
        subscription.restart(from: 0)
        #expect(subscription.nextRead == .documents(after: 0))
        subscription.recordRead(2)
        subscription.refuse(1, untilNextTick: true)
        #expect(subscription.nextRead == nil, "the second page has not arrived")
        let page = Page(epoch: 2, through: 7, isComplete: true, messages: [])
        _ = subscription.receive(page, to: 1)
        #expect(subscription.nextRead == nil)
        _ = subscription.receive(page, to: 2)
        #expect(subscription.nextRead == .journal(after: 0))
    }
}

extension Subscription.HandOver {
    fileprivate var offsets: [UInt64]? {
        if case .messages(let messages) = self { messages.map(\.message.offset) } else { nil }
    }

    fileprivate var error: BusError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
