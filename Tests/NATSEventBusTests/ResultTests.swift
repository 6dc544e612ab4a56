import BusConformance
import EventBus
import Foundation
import NATS
import NATSLayout
import TestSupport
import Testing

@testable import NATSEventBus

@Suite("Results of durable consumers on NATS", .timeLimit(.minutes(3)))
struct ResultTests {
    /// The batch of a handled message, which names the previous message of the partition.
    private func handled(
        _ message: Envelope, under claim: ConsumerClaim, of messages: [Envelope] = [], previous: UInt64? = nil,
        settled: UInt64? = nil, settling deadLetters: [Int64] = []
    ) throws -> Batch {
        let position = try #require(message.position)
        let before = messages.prefix { $0 != message }.last { $0.partition == message.partition }
        let checkpoint = Checkpoint(
            claim: claim, position: position, partition: message.partition,
            previous: previous ?? before?.position?.offset ?? claim.offsets[message.partition],
            settled: settled ?? position.offset)
        let number = try message.decode(Counted.self).number
        var batch = Batch(
            [try Envelope(Counted(number: number + 100), source: "worker/1", subject: message.subject)],
            checkpoint: checkpoint)
        batch.resolvedDeadLetters = deadLetters
        return batch
    }

    @Test func `A checkpoint is refused unless the one before it is recorded`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish(0..<3)
                let claim = try await bus.claims.claim(consumer: "worker", as: .exclusive)
                let messages = try await bus.read(under: claim)
                let first = try handled(messages[0], under: claim, of: messages, settling: [99])
                #expect(try await bus.code(of: first) == .deadLetter)
                for message in messages.dropFirst() {
                    #expect(try await bus.code(of: handled(message, under: claim, of: messages)) == .unrecorded)
                }
                #expect(try await bus.numbers() == [0, 1, 2])
                for message in messages {
                    #expect(try await bus.code(of: handled(message, under: claim, of: messages)) == nil)
                }
                #expect(try await bus.numbers() == [0, 1, 2, 100, 101, 102])
            }
        }
    }

    @Test func `A batch of a message that is already handled is a repeat, whatever predecessor it names`() async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { bus, other in
                try await bus.publish(0..<2)
                let claim = try await bus.claims.claim(consumer: "worker", as: .exclusive)
                let messages = try await bus.read(under: claim)
                try await bus.publish(Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(messages[1]))))
                let repeated = try handled(messages[0], under: claim, previous: 7, settling: [99])
                #expect(try await bus.code(of: repeated) == nil)
                #expect(try await bus.numbers() == [0, 1])
                // The owner that was taken over is told so, also for a repeat.
                _ = try await other.claims.claim(consumer: "worker", as: .exclusive)
                #expect(try await bus.code(of: repeated) == .fenced)
            }
        }
    }

    @Test func `A displaced owner is refused as fenced, whatever predecessor it names`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                try await first.publish(0..<2)
                let old = try await first.claims.claim(consumer: "worker", as: .exclusive)
                let messages = try await first.read(under: old)
                _ = try await second.claims.claim(consumer: "worker", as: .exclusive)
                #expect(try await first.code(of: handled(messages[1], under: old, of: messages)) == .fenced)
                #expect(
                    try await first.code(of: Batch([], checkpoint: Checkpoint(claim: old, upTo: old.position)))
                        == .fenced)
                let guarding = Checkpoint(guarding: Partition.all[5], of: old)
                #expect(try await first.code(of: Batch([], checkpoint: guarding)) == .fenced)
            }
        }
    }

    @Test func `Progress beyond the journal's end, or of another journal, is refused`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let end = try await bus.publish([0])
                let claim = try await bus.claims.claim(consumer: "worker", as: .exclusive)
                let partition = Partition(subject: Session.default)
                for (offset, settled) in [(end.offset + 1, end.offset), (end.offset, end.offset + 1)] {
                    for partition in [nil, partition] {
                        let checkpoint = Checkpoint(
                            claim: claim, position: Position(epoch: end.epoch, offset: offset), partition: partition,
                            previous: nil, settled: settled)
                        #expect(try await bus.code(of: Batch([], checkpoint: checkpoint)) == .epoch)
                    }
                }
                let elsewhere = Position(epoch: end.epoch &+ 1, offset: 1)
                #expect(
                    try await bus.code(of: Batch([], checkpoint: Checkpoint(claim: claim, upTo: elsewhere)))
                        == .epoch)
                #expect(try await bus.claims.consumers().map(\.position.offset) == [0])
            }
        }
    }

    @Test func `The result of a slow partition is not a repeat, and its partition keeps its position`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { bus, other in
                let claim = try await bus.claims.claim(consumer: "worker", as: .exclusive)
                let subjects = (0..<100).map { "s\($0)" }
                let fast = try #require(subjects.first { Partition(subject: $0) != Partition(subject: "slow") })
                let slow = try await bus.publish([0], subject: "slow")
                try await bus.publish(1..<10, subject: fast)
                let messages = try await bus.read(under: claim)
                for message in messages.dropFirst() {
                    let batch = try handled(message, under: claim, of: messages, settled: slow.offset - 1)
                    #expect(try await bus.code(of: batch) == nil)
                }
                #expect(try await bus.claims.consumers().allSatisfy { $0.position.offset < slow.offset })
                // Another owner begins at the slow message, and after the last one of the fast partition.
                let next = try await other.claims.claim(consumer: "worker", as: .exclusive)
                #expect(try await other.read(under: next).map(\.subject).filter { $0 == "slow" }.count == 1)
                #expect(next.offsets[Partition(subject: fast)] == messages.last?.position?.offset)
                let late = try handled(messages[0], under: next, of: messages)
                #expect(try await other.code(of: late) == nil)
                #expect(try await bus.numbers() == Array(0..<10) + Array(101..<110) + [100])
            }
        }
    }

    @Test func `Batches of one partition that are published at once keep the order of the calls`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish(0..<20)
                let claim = try await bus.claims.claim(consumer: "worker", as: .exclusive)
                let messages = try await bus.read(under: claim)
                try await withThrowingDiscardingTaskGroup { group in
                    for message in messages {
                        let batch = try handled(message, under: claim, of: messages)
                        // Each call begins before the next one, on one thread.
                        group.addImmediateTask { try await bus.publish(batch) }
                    }
                }
                #expect(try await bus.numbers() == Array(0..<20) + Array(100..<120))
            }
        }
    }

    @Test func `A batch that is sent again after its acknowledgement was lost is stored once`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish(0..<2)
                let claim = try await bus.claims.claim(consumer: "worker", as: .exclusive)
                let messages = try await bus.read(under: claim)
                // The first sending is stored, and its acknowledgement does not arrive.
                let forgetful = ResultPublisher(
                    bus.journal, claims: bus.claims, deadLetters: bus.deadLetters,
                    send: { publication in
                        _ = try await bus.send(publication)
                        return try await bus.send(publication)
                    })
                for message in messages {
                    let batch = try handled(message, under: claim, of: messages)
                    _ = try await forgetful.publish(batch, #require(batch.checkpoint))
                }
                #expect(try await bus.numbers() == [0, 1, 100, 101])
            }
        }
    }

    @Test func `A caller that is cancelled does not block the next batch of its partition`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish(0..<2)
                let claim = try await bus.claims.claim(consumer: "worker", as: .exclusive)
                let messages = try await bus.read(under: claim)
                // The batch is stored, and its caller does not learn of it.
                let interrupted = ResultPublisher(
                    bus.journal, claims: bus.claims, deadLetters: bus.deadLetters,
                    send: { publication in
                        _ = try await bus.send(publication)
                        throw CancellationError()
                    })
                let batch = try handled(messages[0], under: claim, of: messages)
                await #expect(throws: CancellationError.self) {
                    _ = try await interrupted.publish(batch, #require(batch.checkpoint))
                }
                #expect(try await bus.code(of: handled(messages[1], under: claim, of: messages)) == nil)
                #expect(try await bus.numbers() == [0, 1, 100, 101])
            }
        }
    }

    @Test func `Checkpoints that guard record no progress, and any number of them is accepted`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish([0])
                let claim = try await bus.claims.claim(consumer: "worker", as: .exclusive)
                let message = try #require(try await bus.read(under: claim).first)
                for number in 1...2 {
                    let checkpoint = Checkpoint(guarding: message.partition, of: claim)
                    let batch = Batch([try Envelope(Counted(number: number), source: "x")], checkpoint: checkpoint)
                    #expect(try await bus.code(of: batch) == nil)
                }
                #expect(try await bus.numbers() == [0, 1, 2])
                #expect(try await bus.claims.consumers().map(\.position.offset) == [0])
                #expect(try await bus.code(of: handled(message, under: claim)) == nil)
            }
        }
    }

    @Test func `No result of the predecessor is stored after a claim that races with it`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                for round in 0..<20 {
                    let consumer = "racer-\(round)"
                    let end = try await first.publish([round])
                    let old = try await first.claims.claim(consumer: consumer, as: .exclusive)
                    let checkpoint = Checkpoint(
                        claim: old, position: end, partition: Partition.all[3], previous: nil, settled: end.offset)
                    let batch = Batch([], checkpoint: checkpoint)
                    async let published = first.code(of: batch)
                    let new = try await second.claims.claim(consumer: consumer, as: .exclusive)
                    let code = try await published
                    #expect(code == nil || code == .fenced)
                    // The batch was taken exactly if the claim knows of it.
                    #expect((new.offsets[Partition.all[3]] == end.offset) == (code == nil))
                }
            }
        }
    }
}
