import BusFormat
import EventBus
import Foundation
import NATS
import NATSLayout
import TestSupport
import Testing

@testable import NATSEventBus

@Suite("Dead letters on NATS", .timeLimit(.minutes(3)))
struct DeadLetterTests {
    private static let rejection = Rejection(code: "test.unusable", reason: "it is of\nno use", attempts: 3)

    /// Publishes the batches of a consumer that gives up messages.
    @discardableResult
    private func giveUp(_ count: Int, as consumer: String, on bus: BusParts) async throws -> [DeadLetter] {
        let claim = try await bus.claims.claim(consumer: consumer, as: .exclusive)
        for message in try await bus.read(under: claim).prefix(count) {
            try await bus.publish(
                Batch([], checkpoint: Checkpoint(claim: claim, handled: Delivery(message)), rejection: Self.rejection))
        }
        await bus.claims.leave(consumer: consumer, as: claim.member)
        return try await bus.deadLetters.list(of: consumer)
    }

    private func settling(_ ids: [Int64], _ messages: [Envelope] = []) -> Batch {
        var batch = Batch(messages)
        batch.resolvedDeadLetters = ids
        return batch
    }

    /// Does what the steward does: keeps the letters up to the end of the journal, then writes the watermark.
    private func project(_ bus: BusParts) async throws {
        let (jetStream, names) = (bus.journal.jetStream, bus.journal.names)
        let epoch = try await bus.journal.identity().epoch
        let end = try await bus.journal.lastBatch()
        for deadLetter in try await bus.deadLetters.list(of: nil) {
            let stored = try #require(try await bus.journal.batch(at: UInt64(deadLetter.id)))
            let rejected = try #require(try stored.batch.content(at: UInt64(deadLetter.id), of: epoch).rejected)
            let progress = try #require(stored.batch.headers.progress)
            let record = DeadLetterRecord(
                rejected, progress: progress, time: Int64(deadLetter.time.timeIntervalSince1970 * 1e9), epoch: epoch)
            var headers = NATSHeaders()
            for (name, value) in record.fields { headers[name] = value }
            let subject = bus.journal.subject(
                .deadLetter(consumer: deadLetter.consumer, sequence: UInt64(deadLetter.id)))
            try await jetStream.publish(subject, headers: headers, body: record.body)
        }
        try await jetStream.publish(
            bus.journal.subject(.documentWatermark), body: try WatermarkRecord(sequence: end, epoch: epoch).json())
        #expect(names.deadLetters == "SEGUE_DEAD")
    }

    @Test func `A message that is given up is listed with the reason, and its consumer continues`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish(0..<3)
                let deadLetters = try await giveUp(2, as: "one", on: bus)
                #expect(try deadLetters.map(\.message).numbers == [0, 1])
                #expect(deadLetters.map(\.rejection) == [Self.rejection, Self.rejection])
                #expect(deadLetters.allSatisfy { abs($0.time.timeIntervalSinceNow) < 60 })
                let claim = try await bus.claims.claim(consumer: "one", as: .exclusive)
                #expect(claim.position == deadLetters[1].message.position)
                try await giveUp(3, as: "two", on: bus)
                let all = try await bus.deadLetters.list(of: nil)
                #expect(all.map(\.consumer) == ["one", "one", "two", "two", "two"])
                #expect(try await bus.deadLetters.list(of: "two").map(\.message).numbers == [0, 1, 2])
                #expect(try await bus.deadLetters.list(of: "three").isEmpty)
            }
        }
    }

    @Test func `Dead letters of the steward and those after its watermark are one list`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish(0..<4)
                let before = try await giveUp(2, as: "one", on: bus)
                try await project(bus)
                #expect(try await bus.deadLetters.list(of: nil) == before)
                let after = try await giveUp(2, as: "two", on: bus)
                #expect(try await bus.deadLetters.list(of: nil) == before + after)
                // One of each kind is settled.
                try await bus.publish(settling([before[0].id, after[1].id]))
                #expect(try await bus.deadLetters.list(of: nil) == [before[1], after[0]])
                // Retention removes the batches of the letters that the steward keeps.
                try await bus.journal.jetStream.purge("SEGUE", filter: "SEGUE.m.>", before: Int(before[1].id) + 1)
                #expect(try await bus.deadLetters.list(of: nil) == [before[1], after[0]])
            }
        }
    }

    @Test func `A dead letter is removed by the batch that settles it, and an unknown one refuses the batch`()
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let end = try await bus.publish(0..<2)
                let deadLetters = try await giveUp(2, as: "counter", on: bus)
                let result = try Envelope(Counted(number: 7), source: "x")
                let missing = deadLetters[1].id + 1000
                #expect(try await bus.code(of: settling([deadLetters[0].id, missing], [result])) == .deadLetter)
                #expect(try await bus.numbers() == [0, 1])
                #expect(try await bus.deadLetters.list(of: nil) == deadLetters)
                try await bus.publish(settling([deadLetters[0].id], [result]))
                #expect(try await bus.numbers() == [0, 1, 7])
                #expect(try await bus.deadLetters.list(of: nil) == [deadLetters[1]])
                #expect(try await bus.code(of: settling([deadLetters[0].id])) == .deadLetter)
                // With a checkpoint, a letter that is not there refuses the batch, too.
                let claim = try await bus.claims.claim(consumer: "another", as: .exclusive)
                var batch = settling([missing], [result])
                batch.checkpoint = Checkpoint(claim: claim, upTo: end)
                #expect(try await bus.code(of: batch) == .deadLetter)
                #expect(try await bus.claims.claim(consumer: "another", as: claim.member).position.offset == 0)
            }
        }
    }

    @Test func `Only one of two batches that settle the same dead letter succeeds`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                try await first.publish(0..<10)
                let deadLetters = try await giveUp(10, as: "counter", on: first)
                for (index, deadLetter) in deadLetters.enumerated() {
                    let (left, right) = try (
                        settling([deadLetter.id], [Envelope(Counted(number: 100 + index), source: "l")]),
                        settling([deadLetter.id], [Envelope(Counted(number: 200 + index), source: "r")])
                    )
                    async let one = first.code(of: left)
                    async let two = second.code(of: right)
                    let codes = try await [one, two]
                    #expect(codes.filter { $0 == nil }.count == 1)
                    #expect(codes.filter { $0 == .deadLetter }.count == 1)
                }
                #expect(try await first.deadLetters.list(of: nil).isEmpty)
                #expect(try await first.numbers().count == 20)
            }
        }
    }

    @Test func `A rejection by a displaced owner, or of no message, is refused`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { first, second in
                let end = try await first.publish([1])
                let old = try await first.claims.claim(consumer: "counter", as: .exclusive)
                let new = try await second.claims.claim(consumer: "counter", as: .exclusive)
                let message = try #require(try await first.read(under: old).first)
                let late = Batch(
                    [], checkpoint: Checkpoint(claim: old, handled: Delivery(message)), rejection: Self.rejection)
                #expect(try await first.code(of: late) == .fenced)
                let nothing = Checkpoint(claim: new, upTo: Position(epoch: end.epoch, offset: end.offset - 1))
                #expect(
                    try await second.code(of: Batch([], checkpoint: nothing, rejection: Self.rejection)) == .deadLetter)
                #expect(try await first.deadLetters.list(of: nil).isEmpty)
            }
        }
    }
}

extension DeadLetters {
    /// All letters of a consumer, or of all consumers.
    fileprivate func list(of consumer: String?) async throws -> [DeadLetter] {
        try await page(of: consumer, after: 0, limit: .max, size: .max) { $0 }
    }
}
