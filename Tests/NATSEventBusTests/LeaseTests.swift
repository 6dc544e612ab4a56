import BusConformance
import BusFormat
import EventBus
import Foundation
import NATS
import NATSLayout
import Support
import TestSupport
import Testing

@testable import NATSEventBus

@Suite("Leases on NATS", .timeLimit(.minutes(3)))
struct LeaseTests {
    private func document(_ value: String, name: String? = nil) throws -> Envelope {
        try Envelope(Setting(name: name, value: value), source: "test/1")
    }

    private func leased(_ value: String, name: String? = nil, guarding checkpoint: Checkpoint? = nil) throws -> Batch {
        Batch([try document(value, name: name)], checkpoint: checkpoint, isLeased: true)
    }

    /// Claims a consumer, and publishes the document `guarded`, which is leased while the claim owns its partition.
    private func publishGuarded(_ value: String, _ bus: BusParts) async throws {
        let claim = try await bus.claims.claim(consumer: "worker", as: .exclusive)
        let guarding = try #require(Checkpoint(guarding: Partition.all[1], of: claim))
        _ = try await bus.leases.publish(leased(value, name: "guarded", guarding: guarding), guarding)
    }

    /// The documents that a fold of the journal has.
    private func documents(_ bus: BusParts) async throws -> [String: String] {
        var documents: [String: String] = [:]
        for message in try await bus.messages() where message.type == Setting.type {
            documents[message.attributes.key ?? "-"] =
                message.isTombstone ? nil : try message.decode(Setting.self).value
        }
        return documents
    }

    /// Plays the steward: revokes the lease of a producer.
    private func revoke(_ bus: BusParts) async throws -> UInt64 {
        let last = try await bus.journal.read(LeaseRecord.self, .lease(bus.producer))
        #expect(last.value?.state == .held)
        return try #require(
            try await bus.journal.write(LeaseRecord(.revoked), .lease(bus.producer), after: last.sequence))
    }

    /// Plays the steward: withdraws the documents, and says so.
    private func withdraw(_ names: [String?], _ bus: BusParts, after revocation: UInt64) async throws {
        let tombstones = names.map {
            Envelope.withdrawal(
                of: DocumentName(Setting.type, subject: Session.default, key: $0), source: "steward")
        }
        let expectation = Expectation(subject: bus.journal.subject(.lease(bus.producer)), sequence: revocation)
        _ = try await bus.send(Publication(Batch(tombstones), expectation: expectation))
        _ = try #require(
            try await bus.journal.write(LeaseRecord(.withdrawn), .lease(bus.producer), after: revocation))
    }

    @Test func `Leased batches carry the producer, and all of them one lease`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish(leased("1"))
                let position = try await bus.publish(leased("2"))
                let stored = try #require(
                    try await bus.journal.batch(at: StreamPosition(offset: position.offset).sequence))
                #expect(stored.batch.headers.lease == bus.producer)
                let record = try await bus.journal.read(LeaseRecord.self, .lease(bus.producer))
                #expect(record.value?.state == .held)
                #expect(stored.batch.headers.expectation?.sequence == record.sequence)
                #expect(try await documents(bus) == ["-": "2"])
            }
        }
    }

    @Test func `Nothing is stored under a revoked lease, and its documents are published again`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { bus, steward in
                try await bus.publish(leased("a1", name: "a"))
                try await bus.publish(leased("b1", name: "b"))
                try await bus.publish(leased("c1", name: "c"))
                // One is withdrawn by its publisher, and does not come back.
                var tombstone = try document("", name: "c")
                tombstone.data = Data()
                try await bus.publish(Batch([tombstone], isLeased: true))
                let revocation = try await revoke(bus)
                // This batch is refused first, and published under the next lease.
                async let published = bus.publish(leased("a2", name: "a"))
                try await withdraw(["a", "b"], bus, after: revocation)
                let position = try await published
                #expect(try await documents(bus) == ["a": "a2", "b": "b1"])
                let sequence = StreamPosition(offset: position.offset).sequence
                let stored = try #require(try await steward.journal.batch(at: sequence))
                #expect(stored.batch.headers.expectation?.sequence ?? 0 > revocation)
                // Tombstones of the old lease come too late.
                let late = await #expect(throws: BusError.self) {
                    try await withdraw(["a"], bus, after: revocation)
                }
                #expect(late?.code == .fenced)
            }
        }
    }

    @Test func `A document of an ended epoch does not replace a later one when the lease is held again`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish(leased("1"))
                // The journal had more messages before it lost its end.
                let epoch = try await bus.journal.identity().epoch
                await bus.leases.record(try leased("old"), at: Position(epoch: epoch &+ 1, offset: 1 << 40))
                try await bus.publish(leased("2"))
                try await withdraw([nil], bus, after: revoke(bus))
                _ = try await nextBatch(bus, after: 3)
                #expect(try await documents(bus) == ["-": "2"])
            }
        }
    }

    @Test func `A process that publishes nothing notices that its lease was revoked`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                try await bus.publish(leased("1"))
                try await withdraw([nil], bus, after: revoke(bus))
                // The journal has the document again when it has a third batch.
                let position = try await nextBatch(bus, after: 2)
                #expect(position > 0)
                #expect(try await documents(bus) == ["-": "1"])
            }
        }
    }

    /// Waits until the journal has more than `count` batches.
    private func nextBatch(_ bus: BusParts, after count: Int) async throws -> Int {
        var last = 0
        var read = 0
        let epoch = try await bus.journal.identity().epoch
        let reader = BatchReader(bus.journal, patterns: [], after: 0, epoch: epoch, headersOnly: true)
        try await reader.read { message in
            last = message.streamSequence
            read += 1
            return read > count ? .stop : .goOn
        }
        return last
    }

    @Test func `A guarded document expects the fence, and is not published again after its claim was lost`()
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { bus, other in
                try await publishGuarded("kept", bus)
                try await bus.publish(leased("1", name: "plain"))
                try await withdraw(["guarded", "plain"], bus, after: revoke(bus))
                _ = try await bus.publish(leased("2", name: "plain"))
                #expect(try await documents(bus) == ["guarded": "kept", "plain": "2"])
                _ = try await other.claims.claim(consumer: "worker", as: .exclusive)
                try await withdraw(["guarded", "plain"], bus, after: revoke(bus))
                _ = try await bus.publish(leased("3", name: "plain"))
                #expect(try await documents(bus) == ["plain": "3"])
            }
        }
    }

    @Test func `A document that is no longer leased is forgotten`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let names = ["one", "two"].map { DocumentName(Setting.type, subject: Session.default, key: $0) }
                for name in names {
                    try await bus.publish(leased("1", name: name.key))
                    try await bus.publish(Batch([.withdrawal(of: name, source: bus.source)], isLeased: true))
                }
                #expect(await bus.leases.names.isEmpty)
                try await bus.publish(leased("2", name: "two"))
                #expect(await bus.leases.names == [names[1]])
            }
        }
    }

    @Test func `A withdrawal counts although an earlier lease of the document is acknowledged after it`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let (isStored, mayReturn, calls) = (Latch(), Latch(), Counter())
                let leases = Leases(
                    bus.journal, producer: bus.producer, source: bus.source, results: bus.results
                ) { publication in
                    let recorded = try await bus.send(publication)
                    if calls.increment() == 1 {
                        isStored.open()
                        await mayReturn.waitUntilOpenOrCancelled()
                    }
                    return recorded
                }
                let first = try leased("1", name: "a")
                async let published = leases.publish(first)
                await isStored.waitUntilOpenOrCancelled()
                let name = DocumentName(Setting.type, subject: Session.default, key: "a")
                _ = try await leases.publish(Batch([.withdrawal(of: name, source: bus.source)], isLeased: true))
                mayReturn.open()
                _ = try await published
                #expect(await leases.names.isEmpty)
            }
        }
    }

    @Test func `A process that ends withdraws its documents without a steward, and can publish no others`()
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { bus, other in
                try await publishGuarded("1", bus)
                try await bus.publish(leased("2", name: "plain"))
                // This document is no longer leased.
                try await bus.publish(leased("3", name: "kept"))
                let kept = Batch([try document("4", name: "kept")])
                await bus.leases.record(kept, at: try await bus.publish(kept))
                try await other.publish(leased("5", name: "other"))
                await bus.leases.end()
                #expect(try await documents(bus) == ["kept": "4", "other": "5"])
                let tombstones = try await bus.messages().filter(\.isTombstone)
                #expect(tombstones.allSatisfy { $0.attributes.source == bus.source })
                #expect(try await bus.journal.read(LeaseRecord.self, .lease(bus.producer)).value?.state == .withdrawn)
                #expect(try await bus.code(of: leased("6", name: "late")) == .closed)
            }
        }
    }

    @Test func `A process that ends does not withdraw a guarded document after its claim was lost`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { bus, other in
                try await publishGuarded("1", bus)
                _ = try await other.claims.claim(consumer: "worker", as: .exclusive)
                try await other.publish(Batch([document("2", name: "guarded")]))
                await bus.leases.end()
                #expect(try await documents(bus) == ["guarded": "2"])
            }
        }
    }

    @Test func `Documents that a process cannot withdraw when it ends stay revoked, for the steward`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { bus, steward in
                try await publishGuarded("1", bus)
                try await bus.publish(leased("2", name: "plain"))
                await bus.claims.leaveAll()
                await bus.leases.end()
                #expect(try await documents(steward) == ["guarded": "1"])
                let last = try await bus.journal.read(LeaseRecord.self, .lease(bus.producer))
                #expect(last.value?.state == .revoked)
                try await withdraw(["guarded"], bus, after: last.sequence)
                #expect(try await documents(steward) == [:])
            }
        }
    }

    @Test func `A batch whose caller was cancelled may be stored, so the lease stays revoked, for the steward`()
        async throws
    {
        try await JournalFixture.run { fixture in
            try await fixture.withParts { bus in
                let leases = Leases(
                    bus.journal, producer: bus.producer, source: bus.source, results: bus.results
                ) { publication in
                    _ = try await bus.send(publication)
                    throw CancellationError()
                }
                let batch = try leased("1", name: "a")
                await #expect(throws: CancellationError.self) { try await leases.publish(batch) }
                await leases.end()
                #expect(try await bus.journal.read(LeaseRecord.self, .lease(bus.producer)).value?.state == .revoked)
                #expect(try await documents(bus) == ["a": "1"])
            }
        }
    }

    @Test func `A process whose lease was revoked leaves its documents to the steward when it ends`() async throws {
        try await JournalFixture.run { fixture in
            try await fixture.withTwo { bus, steward in
                try await bus.publish(leased("1", name: "a"))
                let revocation = try await revoke(bus)
                await bus.leases.end()
                #expect(try await documents(steward) == ["a": "1"])
                try await withdraw(["a"], bus, after: revocation)
                #expect(try await documents(steward) == [:])
            }
        }
    }
}
