import EventBus
import Foundation
import NATS
import NATSLayout
import NATSTestSupport
import Steward
import TestSupport
import Testing

@testable import NATSEventBus

@Suite("Claims on three servers", .serialized, .timeLimit(.minutes(5)))
struct ClusterClaimTests {
    @Test func `No result of the predecessor is stored after a claim that races with it`() async throws {
        try await JournalFixture.runCluster { cluster, withParts in
            try await withParts("first/1") { first in
                try await withParts("second/1") { second in
                    for round in 0..<10 {
                        let consumer = "racer-\(round)"
                        let end = try await first.publish([round])
                        let old = try await first.claims.claim(consumer: consumer, as: .exclusive)
                        let partition = Partition.all[3]
                        async let published = first.code(
                            of: Batch(
                                [],
                                checkpoint: Checkpoint(
                                    claim: old, position: end, partition: partition, previous: nil, settled: end.offset)
                            ))
                        let new = try await second.claims.claim(consumer: consumer, as: .exclusive)
                        let code = try await published
                        #expect(code == nil || code == .fenced)
                        // A batch that is refused may have been stored: its acknowledgement can be lost. One that is
                        // acknowledged is known to the claim.
                        if code == nil { #expect(new.offsets[partition] == end.offset) }
                    }
                }
            }
        }
    }

    @Test func `Members share the work while the leader is killed, and each message is handled once, in order`()
        async throws
    {
        try await JournalFixture.runCluster { cluster, withParts in
            try await withParts("publisher/1") { publisher in
                let subjects = (0..<8).map { "session-\($0)" }
                for number in 0..<40 { try await publisher.publish([number], subject: subjects[number % 8]) }
                try await withParts("first/1") { first in
                    try await withParts("second/1") { second in
                        try await withThrowingTaskGroup { group in
                            for bus in [first, second] { group.addTask { try await bus.work(until: 40) } }
                            try await publisher.waitUntilResults(4)
                            let leader = try await publisher.journal.jetStream.stream("SEGUE").leader
                            let server = try #require(cluster.server(named: leader))
                            try await server.kill()
                            try await server.restart()
                            try await group.waitForAll()
                        }
                    }
                }
                let results = try await publisher.messages().filter { $0.type == Done.type }
                #expect(results.count == 40)
                for subject in subjects {
                    let numbers = try results.filter { $0.subject == subject }.map { try $0.decode(Done.self).number }
                    #expect(numbers == numbers.sorted())
                }
                #expect(Set(try results.map { try $0.decode(Done.self).number }).count == 40)
            }
        }
    }
}

/// The result of a ``Counted``.
private struct Done: EventMessage {
    var number: Int
}

extension BusParts {
    /// Handles messages with a shared member until the journal has this number of results.
    fileprivate func work(until count: Int) async throws {
        let member = ConsumerMember.shared
        while try await resultCount() < count {
            do {
                let claim = try await claims.claim(consumer: "workers", as: member)
                for message in try await read(under: claim) {
                    let done = try Envelope(
                        Done(number: message.decode(Counted.self).number), source: source, causedBy: message)
                    try await publish(Batch([done], checkpoint: Checkpoint(claim: claim, handled: Delivery(message))))
                }
            } catch let error as BusError where error.code == .fenced {
                // Another member has joined or left: claim again.
            }
        }
        await claims.leave(consumer: "workers", as: member)
    }

    private func resultCount() async throws -> Int {
        try await messages().filter { $0.type == Done.type }.count
    }

    /// Waits until the journal has a number of results.
    fileprivate func waitUntilResults(_ count: Int) async throws {
        var missing = count
        let epoch = try await journal.identity().epoch
        let reader = BatchReader(journal, patterns: ["SEGUE.m.workers.*.>"], after: 0, epoch: epoch, headersOnly: true)
        try await reader.read { _ in
            missing -= 1
            return missing == 0 ? .stop : .goOn
        }
    }
}
