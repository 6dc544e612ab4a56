import BusFormat
import EventBus
import Foundation
import NATS
import NATSLayout
import NATSTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Steward

@Suite("Projection of a journal")
struct ProjectionTests {
    /// The end of a steward at some point.
    private struct Killed: Error {}

    private static func projection(
        _ journal: TestJournal, term: UInt64, instance: UUID = UUID(),
        passed: @escaping @Sendable (Projection.Step) throws -> Void = { _ in }
    ) -> Projection {
        Projection(
            journal.jetStream, names: journal.names, epochs: journal.journal, notices: journal.notices,
            steward: StewardRecord(instance: instance, term: term), logger: TestJournal.logger, passed: passed)
    }

    /// Publishes random documents, withdrawals, events, dead letters and settlements.
    /// - Returns: The dead letters that are not settled.
    private static func publishSome(
        _ journal: TestJournal, count: Int, open: Set<Int64>, _ generator: inout SeededGenerator
    ) async throws -> Set<Int64> {
        var open = open
        for number in 0..<count {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: try await journal.publish([message(.event, "E")])
            case 1:
                let sequence = try await journal.reject(message(.command, "C"), at: 1023, by: "worker")
                open.insert(Int64(sequence))
            case 2:
                guard let deadLetter = open.min() else { continue }
                open.remove(deadLetter)
                try await journal.publish([], settles: [deadLetter], to: .settlement)
            default:
                let messages = (0..<Int.random(in: 1...4, using: &generator)).map { index in
                    message(
                        .document, subject: "s\(Int.random(in: 0..<6, using: &generator))",
                        key: ["k", nil].randomElement(using: &generator) ?? nil,
                        data: generator.chance(1, in: 3) ? "" : "\(number).\(index)")
                }
                let lease = generator.chance(1, in: 3) ? ProducerID() : nil
                try await journal.publish(messages, lease: lease)
            }
        }
        return open
    }

    @Test("A damaged batch is reported and not delivered", .timeLimit(.minutes(3)))
    func damagedBatch() async throws {
        try await TestJournal.run { journal in
            let (posted, poster) = AsyncStream.makeStream(of: BusNotice.self)
            let configuration = StewardConfiguration(namespace: "TEST") {
                poster.yield($0)
                return nil
            }
            let notices = StewardNotices(
                journal.jetStream, names: journal.names, configuration: configuration, logger: TestJournal.logger)
            let projection = Projection(
                journal.jetStream, names: journal.names, epochs: journal.journal, notices: notices,
                steward: StewardRecord(instance: UUID(), term: 1), logger: TestJournal.logger)
            let subject = journal.text(.batch(MessageTokens(of: [message(.event, "E")])))
            let damaged = try await journal.jetStream.publish(
                subject, headers: [BatchHeaders.Name.batch.rawValue: "1"], body: [1, 2, 3]
            ).sequence
            try await during({ try await notices.run() }) {
                try await during({ try await projection.run() }) {
                    for await notice in posted {
                        #expect(notice.code == .damaged)
                        #expect(notice.message.contains("message \(damaged) "))
                        break
                    }
                }
            }
        }
    }

    @Test("The projection equals that of the whole journal, whenever its steward is killed", .timeLimit(.minutes(3)))
    func killed() async throws {
        try await TestJournal.run { journal in
            var generator = SeededGenerator(seed: 11)
            var open: Set<Int64> = []
            var killed: [Projection.Step: Int] = [:]
            for term in 1...42 {
                open = try await Self.publishSome(journal, count: 12, open: open, &generator)
                let target = Projection.Step.allCases[Int(term) % Projection.Step.allCases.count]
                let rest = Mutex(Int.random(in: 0..<3, using: &generator))
                let isKilled = Mutex(false)
                let projection = Self.projection(journal, term: UInt64(term)) { step in
                    guard step == target else { return }
                    let isNow = rest.withLock { rest in
                        rest -= 1
                        return rest < 0
                    }
                    guard isNow else { return }
                    isKilled.withLock { $0 = true }
                    throw Killed()
                }
                let end = try await journal.jetStream.stream("TEST").lastSequence
                do {
                    try await during({ try await projection.run() }) { try await journal.waitUntilMark(end) }
                } catch is Killed {}
                if isKilled.withLock(\.self) { killed[target, default: 0] += 1 }
                #expect(try await journal.documents() == journal.folded(), "after term \(term)")
            }
            // A steward was killed after each step.
            #expect(Set(killed.keys) == Set(Projection.Step.allCases), "\(killed)")
            let end = try await journal.jetStream.stream("TEST").lastSequence
            let last = Self.projection(journal, term: 43)
            try await during({ try await last.run() }) { try await journal.waitUntilMark(end) }
            #expect(try await journal.projected() == journal.folded())
            let deadLetters = try await journal.deadLetters()
            #expect(Set(deadLetters.keys) == open)
            #expect(deadLetters.values.allSatisfy { $0.consumer == "worker" && $0.rejection.attempts == 3 })
            let table = try #require(
                try await journal.jetStream.lastMessage(of: "TEST_DOC", subject: journal.text(.typeTable)))
            let newest = try TypeTable(json: table.body).newest(matching: [.kind(.document)])
            let documents = try await journal.messages(after: 0).filter { $0.documentName != nil }
            #expect(newest.values.max() == documents.map(\.position.offset).max())
        }
    }

    @Test("A deposed steward does not change the projection", .timeLimit(.minutes(3)))
    func deposed() async throws {
        try await TestJournal.run { journal in
            try await journal.publish([message(.document, data: "1")])
            let old = Self.projection(journal, term: 1)
            try await old.begin()
            let new = Self.projection(journal, term: 2)
            let end = try await journal.publish([message(.document, data: "2")])
            try await during({ try await new.run() }) { try await journal.waitUntilMark(end) }
            await #expect(throws: Deposed.self) { try await old.run() }
            #expect(try await journal.projected().map(\.data) == [Data("2".utf8)])
            let third = Self.projection(journal, term: 1)
            await #expect(throws: Deposed.self) { try await third.run() }
        }
    }

    @Test("A kill of the server loses nothing of the projection", .timeLimit(.minutes(2)))
    func serverKilled() async throws {
        try await TestJournal.run { journal in
            let projection = Self.projection(journal, term: 1)
            try await during({ try await projection.run() }) {
                let first = try await journal.publish([message(.document, subject: "a", data: "1")])
                try await journal.waitUntilMark(first)
                try await journal.server.restart()
                let second = try await journal.jetStream.retrying {
                    try await journal.publish([message(.document, subject: "b", data: "2")])
                }
                try await journal.waitUntilMark(second)
            }
            #expect(try await journal.projected() == journal.folded())
        }
    }

    @Test(
        "The projection does not cover batches that an older copy of the store lacks", .timeLimit(.minutes(3)),
        arguments: [true, false])
    func olderCopy(hasDocument: Bool) async throws {
        try await TestJournal.run { journal in
            let end =
                if hasDocument { try await journal.publish([message(.document, data: "2")]) } else {
                    try await journal.reject(message(.command, "C"), at: 1023, by: "worker")
                }
            let projection = Self.projection(journal, term: 1)
            try await projection.begin()
            try await journal.server.kill()
            try journal.server.saveStore()
            try await journal.server.restart()
            // Stored, but without a watermark.
            try await during({ try await projection.follow() }) {
                while await projection.stored < UInt64(end) { try await Task.sleep(for: .milliseconds(10)) }
            }
            try await journal.server.kill()
            try journal.server.putBackStore()
            try await journal.server.restart()
            _ = try await journal.jetStream.retrying { try await journal.documents() }
            // A tick of the watermark, before anybody has noticed the loss.
            await #expect(throws: (any Error).self) { try await projection.storeWatermark() }
            #expect(try await journal.documents() == journal.folded())
            #expect(await projection.watermark < UInt64(end))
            try await during({ try await projection.run() }) { try await journal.waitUntilMark(end) }
            #expect(try await journal.projected() == journal.folded())
            #expect(try await journal.deadLetters().count == (hasDocument ? 0 : 1))
        }
    }

    @Test("The documents are kept when the journal has lost its end", .timeLimit(.minutes(3)))
    func rebased() async throws {
        try await TestJournal.run { journal in
            try await journal.publish([message(.document, subject: "a", data: "1")])
            try await journal.publish([message(.document, subject: "b", data: "2")])
            let deadLetter = try await journal.reject(message(.command, "C"), at: 1023, by: "worker")
            let projection = Self.projection(journal, term: 1)
            try await during({ try await projection.run() }) { try await journal.waitUntilMark(deadLetter) }
            // The journal without its last message has another epoch.
            let rest = Projection(
                journal.jetStream, names: journal.names,
                epochs: journal.journal.beginning(7, after: UInt64(deadLetter)),
                notices: journal.notices, steward: StewardRecord(instance: UUID(), term: 2), logger: TestJournal.logger)
            try await rest.begin()
            let other = TestJournal(
                server: journal.server, jetStream: journal.jetStream, names: journal.names,
                journal: JournalEpochs(7))
            #expect(try await other.projected().map(\.subject) == ["a", "b"])
            let position = try await other.deadLetters()[Int64(deadLetter)]?.message.position
            #expect(position == Position(epoch: 7, offset: 1023))
            // A journal that was made anew has none of these documents.
            let anew = Projection(
                journal.jetStream, names: journal.names, epochs: JournalEpochs(9), notices: journal.notices,
                steward: StewardRecord(instance: UUID(), term: 3),
                logger: TestJournal.logger)
            try await anew.begin()
            let third = TestJournal(
                server: journal.server, jetStream: journal.jetStream, names: journal.names,
                journal: JournalEpochs(9))
            #expect(try await third.projected().isEmpty)
            #expect(try await third.deadLetters().isEmpty)
            #expect(await anew.watermark == 0)
        }
    }
}
