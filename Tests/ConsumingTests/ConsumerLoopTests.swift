import Contracts
import Dispatch
import EventBus
import Foundation
import Logging
import Support
import Synchronization
import TestSupport
import Testing

@testable import Consuming

@Suite("Consumer loop", .timeLimit(.minutes(1)))
struct ConsumerLoopTests {
    let hub = InMemoryHub(maximumGap: 1000)
    let publisher: EventBus

    init() {
        publisher = EventBus.inMemory(source: "publisher/1", hub: hub)
    }

    private struct Told: EventMessage { var text: String }
    private struct Count: DocumentMessage { var texts: [String] }

    /// Two sessions whose messages are in different partitions.
    private let sessions = ["one", "two"]

    private func tell(_ texts: String..., session: String = "one") async throws {
        for text in texts { try await publisher.publish(Told(text: text), subject: session) }
    }

    private func loop(on bus: EventBus? = nil) -> ConsumerLoop {
        ConsumerLoop(
            "worker", [.type(Told.self)], bus: bus ?? EventBus.inMemory(source: "worker/1", hub: hub), logger: .silent)
    }

    /// Runs a loop until `body` ends.
    private func running(
        _ run: @escaping @Sendable () async throws -> Void, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await run() }
            group.addTask { try await body() }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Waits for a document of a session that contains exactly these strings.
    private func count(_ texts: [String], session: String = "one") async throws {
        try await publisher.withSubscription(to: [.type(Count.self, subject: session)], from: .retained) { messages in
            for try await message in messages where try message.decode(Count.self).texts == texts { return }
        }
    }

    /// Publishes a document with all strings that were sent to a session. Fails for the string "throw".
    private struct Counting: ComputingHandler {
        let bus: EventBus
        var texts = SessionStates<[String]>()
        /// The strings whose results the bus refuses, because their key is too long.
        var refusing: Set<String> = []

        func missing(for message: Envelope) -> [DocumentName]? {
            texts.isKnown(message.subject) ? nil : [DocumentName(Count.type, subject: message.subject)]
        }

        mutating func restore(_ documents: [Envelope], for message: Envelope) {
            texts.restore(try? documents.first?.decode(Count.self).texts, of: message.subject)
        }

        mutating func handle(_ message: Envelope) throws -> Handled {
            let text = try message.decode(Told.self).text
            if text == "throw" { throw BusError(.malformed, "it cannot be counted") }
            let new = (texts[message.subject] ?? []) + [text]
            texts.set(new, because: message)
            var result = try bus.envelope(Count(texts: new), causedBy: message)
            if refusing.contains(text) { result.attributes.key = String(repeating: "k", count: 300) }
            return Handled([result])
        }

        mutating func keep(_ partition: Partition, through offset: UInt64) {
            texts.keep(partition, through: offset)
        }

        mutating func revert(_ partition: Partition, from offset: UInt64) {
            texts.revert(partition, from: offset)
        }

        mutating func forget(_ partitions: Set<Partition>) {
            texts.forget(partitions)
        }
    }

    @Test(
        "A message whose results are refused is given up, its change of the state is undone, and the loop continues",
        arguments: [1, 2])
    func refused(runs: Int) async throws {
        try await tell("a", "b", "refuse", "c", "d")
        for run in 1...runs {
            let bus = EventBus.inMemory(source: "worker/\(run)", hub: hub)
            try await running {
                try await loop(on: bus).runShared(Counting(bus: bus, refusing: ["refuse"]))
            } _: {
                if run > 1 { try await tell("e") }
                try await count(["a", "b", "c", "d"] + (run > 1 ? ["e"] : []))
            }
        }
        let deadLetters = try await publisher.inspect.deadLetters(of: "worker")
        #expect(deadLetters.map(\.rejection.code) == ["worker.refused"])
        #expect(try deadLetters.map { try $0.message.decode(Told.self).text } == ["refuse"])
        let errors = try await publisher.journalled(ApplicationError.self)
        #expect(try errors.map { try $0.decode(ApplicationError.self).code } == ["worker.refused"])
    }

    @Test(
        "A consumer claims again when its journal is replaced after a claim, whatever it publishes first",
        arguments: [true, false])
    func replacedAfterClaim(hasCutOffs: Bool) async throws {
        try await tell("a")
        let lost = CutOff(type: Told.type, count: 3, offsets: 1...3)
        let bus = ReplacedJournalBus(
            EventBus.inMemory(source: "worker/1", hub: hub), cutOffs: hasCutOffs ? [lost] : []
        ).bus
        try await running {
            try await loop(on: bus).runShared(Counting(bus: bus)) { claim, _ in
                _ = try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, upTo: claim.position)))
            }
        } _: {
            try await count(["a"])
        }
    }

    @Test("A batch is not repeated under the same claim after a permanent error")
    func passingErrors() {
        let ended: Set<BusError.Code> = [.epoch, .unrecorded, .fenced]
        #expect(BusRetry.Holding.claim.passing == [.unavailable, .journal])
        #expect(BusRetry.Holding.nothing.passing.isDisjoint(with: [.fenced]), "another process has taken over")
        for holding in BusRetry.Holding.allCases {
            #expect(holding.passing.isSuperset(of: [.unavailable, .journal]))
            #expect(holding.passing.isSubset(of: ended.union([.unavailable, .journal])))
        }
    }

    @Test("Only the progress and the dead letter are published if the error beside them is refused too")
    func bareLetter() async throws {
        try await tell("refuse", "a")
        let bus = RefusingBus(EventBus.inMemory(source: "worker/1", hub: hub)) { batch in
            batch.messages.contains { $0.type != Count.type || $0.attributes.key != nil }
        }.bus
        try await running {
            try await loop(on: bus).runShared(Counting(bus: bus, refusing: ["refuse"]))
        } _: {
            try await count(["a"])
        }
        #expect(try await publisher.inspect.deadLetters(of: "worker").map(\.rejection.code) == ["worker.refused"])
        #expect(try await publisher.journalled(ApplicationError.self).isEmpty)
    }

    @Test("A message at which a computation throws is given up at once, and its change of the state is undone")
    func throwing() async throws {
        try await tell("a", "throw", "b")
        let bus = EventBus.inMemory(source: "worker/1", hub: hub)
        try await running {
            try await loop(on: bus).runShared(Counting(bus: bus))
        } _: {
            try await count(["a", "b"])
        }
        #expect(try await publisher.inspect.deadLetters(of: "worker").map(\.rejection.code) == ["worker.failed"])
    }

    @Test("A slow handler does not delay other partitions, and its own progress is not passed")
    func slowPartition() async throws {
        let (started, finish) = (Latch(), Latch())
        let work: ConsumerLoop.Work = { message in
            if message.subject == "one" {
                started.open()
                try await finish.waitUntilOpen()
            }
            return Handled([try Envelope(Count(texts: [message.subject]), source: "worker/1", causedBy: message)])
        }
        try await tell("slow")
        let slow = try await publisher.inspect.newest(matching: [.type(Told.self)])
        try await running {
            try await loop().runShared(partitionsAtOnce: 2, work)
        } _: {
            try await started.waitUntilOpen()
            try await tell("a", "b", "c", session: "two")
            try await count(["two"], session: "two")
            while try await publisher.journalled(Count.self).count < 3 { await Task.yield() }
            let claim = try await publisher.engine.claim(consumer: "worker", as: .shared)
            #expect(claim.position.offset < slow.offset, "nothing says that the slow one's message is handled")
            await publisher.engine.leave(consumer: "worker", as: claim.member)
            finish.open()
            try await count(["one"])
        }
        #expect(try await publisher.journalled(Count.self).count == 4)
        #expect(try await publisher.inspect.deadLetters(of: nil).isEmpty)
    }

    @Test(
        "The consumer continues after a message that retention removed before it was given up")
    func removed() async throws {
        try await publisher.publish(ApplicationError(code: "test", message: "It failed."), subject: "one")
        try await tell("a")
        let bus = RefusingBus(EventBus.inMemory(source: "worker/1", hub: hub), code: .deadLetter) {
            $0.rejection != nil
        }
        .bus
        try await running {
            let filters: [MessageFilter] = [.type(Told.self), .type(ApplicationError.self)]
            try await ConsumerLoop("worker", filters, bus: bus, logger: .silent)
                .runShared(Counting(bus: bus))
        } _: {
            try await count(["a"])
        }
        #expect(try await publisher.inspect.deadLetters(of: nil).isEmpty)
    }

    @Test(
        "The loop ends with the error of a handler, even while its claim is renewed and another handler runs",
        arguments: [1, 2])
    func failing(first: Int) async throws {
        struct Failure: Error {}
        let bus = ClaimingBus(EventBus.inMemory(source: "worker/1", hub: hub))
        let gates = ["one": Latch(), "two": Latch()]
        let (started, claiming) = ([Latch(), Latch()], bus.secondClaim)
        for session in sessions { try await tell("a", session: session) }
        let error = await #expect(throws: Failure.self) {
            try await running {
                try await loop(on: bus.bus).runShared(partitionsAtOnce: 2) { message in
                    started[message.subject == "one" ? 0 : 1].open()
                    try await gates[message.subject]?.waitUntilOpen()
                    if message.subject == "one" { throw Failure() }
                    return Handled()
                }
            } _: {
                for gate in started { try await gate.waitUntilOpen() }
                // Another process claims the whole consumer, so that the loop claims again.
                _ = try await publisher.engine.claim(consumer: "worker", as: .exclusive)
                try await claiming.waitUntilOpen()
                gates[first == 1 ? "one" : "two"]?.open()
                gates[first == 1 ? "two" : "one"]?.open()
                bus.goOn.open()
                try await Latch().waitUntilOpen()
            }
        }
        #expect(error != nil)
    }

    @Test("A handler that only computes runs on the bus's executor, any other elsewhere")
    func executors() async throws {
        try await tell("a")
        let executor = BusExecutor()
        let bus = PinnedBus(inner: EventBus.inMemory(source: "worker/1", hub: hub), executor: executor).bus
        let (work, computation) = (Call(executor), Call(executor))
        try await running {
            try await loop(on: bus).runShared(partitionsAtOnce: 1) { _ in
                work.happens()
                return Handled()
            }
        } _: {
            try await work.happened.waitUntilOpen()
        }
        #expect(work.isOnExecutor == false)
        try await running {
            try await ConsumerLoop("clerk", [.type(Told.self)], bus: bus, logger: .silent)
                .runShared(Placing(call: computation))
        } _: {
            try await computation.happened.waitUntilOpen()
        }
        #expect(computation.isOnExecutor == true)
    }

    /// Records the executor on which a handler is called.
    private final class Call: Sendable {
        let happened = Latch()
        private let executor: BusExecutor
        private let place = Mutex<Bool?>(nil)

        init(_ executor: BusExecutor) {
            self.executor = executor
        }

        func happens() {
            place.withLock { $0 = executor.isCurrent }
            happened.open()
        }

        var isOnExecutor: Bool? { place.withLock(\.self) }
    }

    private struct Placing: ComputingHandler {
        let call: Call

        func missing(for message: Envelope) -> [DocumentName]? { nil }
        mutating func restore(_ documents: [Envelope], for message: Envelope) {}
        mutating func forget(_ partitions: Set<Partition>) {}

        mutating func handle(_ message: Envelope) throws -> Handled {
            call.happens()
            return Handled()
        }

        mutating func keep(_ partition: Partition, through offset: UInt64) {}
        mutating func revert(_ partition: Partition, from offset: UInt64) {}
    }

    @Test("A callback is called when the results are recorded, and not before")
    func whenRecorded() async throws {
        try await tell("a")
        let bus = StallableBus(EventBus.inMemory(source: "worker/1", hub: hub))
        let recorded = Mutex(false)
        let called = Latch()
        try await running {
            try await loop(on: bus.bus).runShared(partitionsAtOnce: 1) { message in
                Handled([try Envelope(Count(texts: ["a"]), source: "worker/1", causedBy: message)]) {
                    recorded.withLock { $0 = true }
                    called.open()
                }
            }
        } _: {
            try await bus.publishing.waitUntilOpen()
            let isRecorded = recorded.withLock { $0 }
            #expect(!isRecorded)
            bus.goOn.open()
            try await called.waitUntilOpen()
        }
        #expect(try await publisher.journalled(Count.self).count == 1)
    }
}

/// An executor with a single queue, like the single thread of a bus.
private final class BusExecutor: SerialExecutor, TaskExecutor {
    private let queue = DispatchQueue(label: "bus")
    private let key = DispatchSpecificKey<Bool>()

    init() {
        queue.setSpecific(key: key, value: true)
    }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            job.runSynchronously(
                isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
        }
    }
}

private struct PinnedBus: ForwardingEngine {
    let inner: EventBus
    let executor: BusExecutor

    var taskExecutor: (any SerialExecutor & TaskExecutor)? { executor }
}

/// A bus that refuses some batches.
private struct RefusingBus: ForwardingEngine {
    let inner: EventBus
    private let code: BusError.Code
    private let refuses: @Sendable (Batch) -> Bool

    init(_ bus: EventBus, code: BusError.Code = .refused, refuses: @escaping @Sendable (Batch) -> Bool) {
        inner = bus
        self.code = code
        self.refuses = refuses
    }

    func publish(_ batch: Batch) async throws -> Position {
        if refuses(batch) { throw BusError(code, "it is not taken") }
        return try await inner.publish(batch)
    }
}

/// A bus whose journal is replaced after the first claim. That claim belongs to the former journal.
private final class ReplacedJournalBus: ForwardingEngine {
    let inner: EventBus
    private let cutOffs: [CutOff]
    private let isReplaced = Mutex(false)

    init(_ bus: EventBus, cutOffs: [CutOff]) {
        inner = bus
        self.cutOffs = cutOffs
    }

    func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        let claim = try await inner.engine.claim(consumer: consumer, as: member)
        let isFirst = isReplaced.withLock { isReplaced in
            defer { isReplaced = true }
            return !isReplaced
        }
        guard isFirst else { return claim }
        return ConsumerClaim(
            consumer: consumer, member: member, ownerGeneration: claim.ownerGeneration, epoch: claim.epoch &+ 1,
            offsets: claim.offsets, cutOffs: cutOffs)
    }
}

/// A bus whose second claim waits until the test continues it.
private final class ClaimingBus: ForwardingEngine {
    let inner: EventBus
    let secondClaim = Latch()
    let goOn = Latch()
    private let count = Mutex(0)

    init(_ bus: EventBus) {
        inner = bus
    }

    func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        let number = count.withLock { count in
            count += 1
            return count
        }
        if number == 2 {
            secondClaim.open()
            try await goOn.waitUntilOpen()
        }
        return try await inner.engine.claim(consumer: consumer, as: member)
    }
}

/// A bus whose batches wait until the test lets them be published.
private struct StallableBus: ForwardingEngine {
    let inner: EventBus
    let publishing = Latch()
    let goOn = Latch()

    init(_ bus: EventBus) {
        inner = bus
    }

    func publish(_ batch: Batch) async throws -> Position {
        publishing.open()
        try await goOn.waitUntilOpen()
        return try await inner.publish(batch)
    }
}
