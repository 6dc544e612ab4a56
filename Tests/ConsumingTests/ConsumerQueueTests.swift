import EventBus
import Foundation
import Testing

@testable import Consuming

@Suite("Consumer queue")
struct ConsumerQueueTests {
    /// Two sessions whose messages are in different partitions.
    let a = "a"
    let b = "b"

    private func claim(_ offset: UInt64 = 0, ownerGeneration: UInt64 = 1) -> ConsumerClaim {
        ConsumerClaim(
            consumer: "worker", member: .shared, ownerGeneration: ownerGeneration, epoch: 7,
            offsets: [Partition(subject: a): offset, Partition(subject: b): offset])
    }

    private func message(_ offset: UInt64, _ session: String) -> Envelope {
        let attributes = Attributes(
            type: MessageType(kind: .event, name: "Numbered"), source: "test", subject: session, id: "\(offset)")
        return Envelope(attributes: attributes, data: Data("{}".utf8), position: Position(epoch: 7, offset: offset))
    }

    private func result(_ name: String) -> Handled {
        Handled([message(0, name)])
    }

    private func queue(_ mode: ConsumerQueue.Mode) -> ConsumerQueue {
        var queue = ConsumerQueue(mode, claim: claim())
        queue.adopt(claim())
        return queue
    }

    private func handling(_ queue: inout ConsumerQueue) throws -> (Envelope, ConsumerQueue.Permit) {
        guard case .handle(let message, let permit)? = queue.next() else { throw Unexpected() }
        return (message, permit)
    }

    private func publishing(_ queue: inout ConsumerQueue) throws -> (Batch, ConsumerQueue.Permit) {
        guard case .publish(let batch, let permit)? = queue.next() else { throw Unexpected() }
        return (batch, permit)
    }

    private struct Unexpected: Error {}

    @Test("A message in progress does not delay other partitions, and their progress does not pass it")
    func slowPartition() throws {
        var queue = queue(.concurrent(2))
        queue.enqueue(Delivery(message(1, b)))
        queue.enqueue(Delivery(message(2, a)))
        queue.enqueue(Delivery(message(3, a)))
        let (first, slow) = try handling(&queue)
        #expect(first.subject == b)
        for offset: UInt64 in [2, 3] {
            let (next, permit) = try handling(&queue)
            #expect(next.position?.offset == offset)
            #expect(queue.next() == nil, "the other message of its partition waits")
            queue.handled(Handled(), of: permit)
            let (batch, published) = try publishing(&queue)
            #expect(batch.checkpoint?.position.offset == offset)
            #expect(batch.checkpoint?.settled == 0, "message 1 is not finished")
            #expect(batch.checkpoint?.previous == (offset == 2 ? 0 : 2))
            #expect(queue.recorded(published).count == 1)
            #expect(queue.oldestUnfinished == 1)
        }
        queue.handled(Handled(), of: slow)
        let (batch, permit) = try publishing(&queue)
        #expect(batch.checkpoint?.position.offset == 1)
        #expect(batch.checkpoint?.settled == 3)
        #expect(queue.recorded(permit).count == 1)
        #expect(queue.isQuiet && queue.oldestUnfinished == nil)
    }

    @Test("The number of handlers that run at the same time is limited")
    func limit() throws {
        var queue = queue(.concurrent(1))
        queue.enqueue(Delivery(message(1, a)))
        queue.enqueue(Delivery(message(2, b)))
        let (_, first) = try handling(&queue)
        #expect(queue.next() == nil)
        queue.handled(Handled(), of: first)
        #expect(try handling(&queue).0.subject == b)
        #expect(try publishing(&queue).0.checkpoint?.settled == 1)
        #expect(queue.next() == nil)
    }

    @Test("A computation answers all waiting messages, and their results are one batch")
    func pipelined() throws {
        var queue = queue(.pipelined)
        var permits: [ConsumerQueue.Permit] = []
        for offset: UInt64 in 1...4 {
            queue.enqueue(Delivery(message(offset, a)))
            while let step = queue.next() {
                switch step {
                case .handle(let message, let permit): queue.handled(result(message.id), of: permit)
                case .publish(let batch, let permit):
                    permits.append(permit)
                    #expect(batch.messages.map(\.subject) == ["1"])
                case .fire: Issue.record("there is no timer")
                }
            }
        }
        #expect(permits.count == 1)
        #expect(queue.recorded(permits[0]).map(\.message.id) == ["1"])
        let (batch, permit) = try publishing(&queue)
        #expect(batch.messages.map(\.subject) == ["2", "3", "4"])
        #expect(batch.checkpoint?.position.offset == 4 && batch.checkpoint?.previous == 1)
        #expect(queue.recorded(permit).count == 3)
    }

    @Test("A timer fires after the messages of its partition in progress, and before those that wait")
    func timer() async throws {
        let timers = OpenTimers { _ in [] }
        timers.apply(
            opened: [a, b].map {
                timers.timer(DocumentName(MessageType(kind: .document, name: "Timer"), subject: $0), after: .zero)
            },
            closed: [])
        let due = try await timers.due()
        var queue = queue(.pipelined)
        queue.enqueue(Delivery(message(1, a)))
        let (_, first) = try handling(&queue)
        queue.enqueue(Delivery(message(2, a)))
        for timer in due { queue.enqueue(timer) }
        guard case .fire(let other, let otherTurn) = queue.next() else { throw Unexpected() }
        #expect(other.id.subject == b)
        #expect(queue.next() == nil)
        queue.handled(result("1"), of: first)
        let (_, published) = try publishing(&queue)
        #expect(queue.next() == nil)
        _ = queue.recorded(published)
        guard case .fire(let own, let permit) = queue.next() else { throw Unexpected() }
        #expect(own.id.subject == a)
        #expect(queue.next() == nil)
        // The claim has ended: the timer fires again under the next one.
        queue.suspend()
        #expect(queue.lost(permit) == .waits)
        queue.fired(otherTurn)
        queue.adopt(queue.claim)
        guard case .fire(_, let again) = queue.next() else { throw Unexpected() }
        queue.fired(again)
        #expect(try handling(&queue).0.id == "2")
    }

    @Test("The message with refused results is found among those of its batch, and only it is given up")
    func refusedAmongOthers() throws {
        var queue = queue(.pipelined)
        for offset: UInt64 in 1...3 { queue.enqueue(Delivery(message(offset, a))) }
        var handled: [String] = []
        var published: [[String]] = []
        var rejected: [UInt64] = []
        var underWay: [ConsumerQueue.Permit] = []
        // Reports a batch as recorded only when no other step is possible, so that results gather in the next batch.
        func next() -> ConsumerQueue.Step? {
            if let step = queue.next() { return step }
            guard !underWay.isEmpty else { return nil }
            _ = queue.recorded(underWay.removeFirst())
            return queue.next()
        }
        while let step = next() {
            switch step {
            case .handle(let message, let permit):
                handled.append(message.id)
                queue.handled(result(message.id), of: permit)
            case .fire: Issue.record("there is no timer")
            case .publish(let batch, let permit):
                let subjects = batch.messages.map(\.subject)
                guard subjects.contains("2"), batch.rejection == nil else {
                    published.append(subjects)
                    if batch.rejection != nil { rejected.append(batch.checkpoint?.position.offset ?? 0) }
                    underWay.append(permit)
                    continue
                }
                switch queue.refused(permit) {
                case .repeats(let offset): #expect(offset <= 2)
                case .replaces(let outcome):
                    #expect(outcome.message.id == "2")
                    queue.replace(
                        permit, with: Handled(rejection: Rejection(code: "x.refused", reason: "no", attempts: 1)))
                default: Issue.record("the batch is not known")
                }
            }
        }
        #expect(published.flatMap(\.self).contains("1") && published.flatMap(\.self).contains("3"))
        #expect(!published.flatMap(\.self).contains("2"))
        #expect(rejected == [2])
        #expect(handled.last == "3", "what was answered after the refused one is answered again")
        #expect(queue.oldestUnfinished == nil && queue.count == 0)
    }

    @Test("A lost partition is dropped, and continues from the position of the next claim")
    func lost() throws {
        var queue = queue(.concurrent(2))
        queue.enqueue(Delivery(message(1, a)))
        queue.enqueue(Delivery(message(2, a)))
        queue.enqueue(Delivery(message(3, b)))
        let (_, first) = try handling(&queue)
        let (_, other) = try handling(&queue)
        queue.handled(Handled(), of: first)
        let (_, published) = try publishing(&queue)
        #expect(queue.lost(published) == .needsClaim)
        queue.enqueue(Delivery(message(4, a)))
        #expect(queue.settled == 0, "the claim may still cover what was dropped")
        queue.adopt(claim(ownerGeneration: 2))
        queue.enqueue(Delivery(message(1, a)))
        #expect(try handling(&queue).0.id == "1", "it is handled again")
        queue.handled(Handled(), of: other)
        #expect(try publishing(&queue).0.checkpoint?.claim.ownerGeneration == 2, "the other partition has gone on")
    }

    @Test("A message that is handled while the claim is renewed is published under the next claim")
    func renewed() throws {
        var queue = queue(.concurrent(2))
        queue.enqueue(Delivery(message(1, a)))
        let (_, permit) = try handling(&queue)
        queue.handled(Handled(), of: permit)
        let (_, published) = try publishing(&queue)
        queue.suspend()
        #expect(queue.lost(published) == .waits)
        #expect(queue.next() == nil)
        queue.adopt(claim(ownerGeneration: 2))
        #expect(try publishing(&queue).0.checkpoint?.claim.ownerGeneration == 2)
    }

    @Test("A message that another member may have handled is dropped, even while its handler runs")
    func overtaken() throws {
        var queue = queue(.concurrent(2))
        queue.enqueue(Delivery(message(1, a)))
        let (_, permit) = try handling(&queue)
        queue.adopt(claim(ownerGeneration: 3))
        queue.enqueue(Delivery(message(1, a)))
        #expect(queue.next() == nil, "in a partition one handler runs at a time")
        queue.handled(result("late"), of: permit)
        let (again, second) = try handling(&queue)
        #expect(again.id == "1")
        queue.handled(result("again"), of: second)
        #expect(try publishing(&queue).0.messages.map(\.subject) == ["again"])
    }

    @Test("A partition that is lost while its handler runs records no progress, and does not delay others")
    func leaving() throws {
        var queue = queue(.concurrent(2))
        queue.enqueue(Delivery(message(1, a)))
        let (_, permit) = try handling(&queue)
        let left = ConsumerClaim(
            consumer: "worker", member: .shared, ownerGeneration: 1, epoch: 7, offsets: [Partition(subject: b): 0])
        queue.adopt(left)
        queue.enqueue(Delivery(message(2, b)))
        let (_, other) = try handling(&queue)
        queue.handled(Handled(), of: other)
        let (batch, published) = try publishing(&queue)
        #expect(batch.checkpoint?.settled == 2)
        _ = queue.recorded(published)
        queue.handled(result("late"), of: permit)
        #expect(queue.next() == nil && queue.isQuiet && queue.isPublished)
        #expect(queue.settled == 2)
    }

    @Test("A message that arrives twice is handled once")
    func twice() throws {
        var queue = queue(.concurrent(1))
        queue.enqueue(Delivery(message(1, a)))
        queue.enqueue(Delivery(message(1, a)))
        let (_, permit) = try handling(&queue)
        queue.handled(Handled(), of: permit)
        let (_, published) = try publishing(&queue)
        _ = queue.recorded(published)
        #expect(queue.next() == nil && queue.count == 0)
    }

    @Test("A reader that is far ahead must wait")
    func room() {
        var queue = queue(.concurrent(1))
        for offset in 1...UInt64(ConsumerQueue.capacity) {
            #expect(queue.hasRoom)
            queue.enqueue(Delivery(message(offset, a)))
        }
        #expect(!queue.hasRoom)
    }
}
