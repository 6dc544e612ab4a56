import BusFormat
import BusProtocol
import EventBus
import Testing

@testable import ZeroMQEventBus

@Suite("Resending of unanswered requests")
struct ResendingTests {
    private let start = ContinuousClock.now

    @Test("The wait for an answer doubles with each copy, up to two seconds")
    func doubling() {
        var resending = Resending()
        #expect(!resending.isDue(at: start), "it was not sent")
        var now = start
        for milliseconds in [250, 500, 1000, 2000, 2000] {
            resending.send(at: now, place: 1, wait: .milliseconds(250))
            now += .milliseconds(milliseconds - 1)
            #expect(!resending.isDue(at: now))
            now += .milliseconds(1)
            #expect(resending.isDue(at: now))
        }
    }

    @Test("The wait for an answer starts again on another connection")
    func reset() {
        var resending = Resending()
        for _ in 1...3 { resending.send(at: start, place: 1, wait: .milliseconds(250)) }
        resending.reset(isNewConnection: true)
        #expect(resending.sentAt == nil && !resending.isDue(at: start + .seconds(60)))
        resending.send(at: start, place: 1, wait: .milliseconds(250))
        #expect(resending.isDue(at: start + .milliseconds(250)))
    }

    @Test("Only the answer to a request that was sent once measures the round trip")
    func roundTrip() {
        var resending = Resending()
        resending.send(at: start, place: 1, wait: .milliseconds(250))
        #expect(resending.roundTrip(at: start + .milliseconds(20)) == .milliseconds(20))
        resending.send(at: start + .milliseconds(250), place: 2, wait: .milliseconds(250))
        #expect(resending.roundTrip(at: start + .milliseconds(270)) == nil)
    }

    @Test("The wait grows with a slow broker, and shrinks when it answers quickly again")
    func patience() {
        var trips = RoundTrips()
        #expect(trips.wait == .milliseconds(250))
        trips.record(.milliseconds(200))
        #expect(trips.wait == .milliseconds(800))
        trips.record(.seconds(5))
        #expect(trips.wait == .seconds(2))
        for _ in 1...40 { trips.record(.milliseconds(1)) }
        #expect(trips.wait == .milliseconds(250))
    }
}

@Suite("Leased documents that a client publishes again")
struct LeasedDocumentsTests {
    private let type = MessageType(kind: .document, name: "Presence")

    private func document(_ key: String, _ text: String, type: MessageType? = nil) -> Envelope {
        var attributes = Attributes(type: type ?? self.type, source: "test/1")
        attributes.key = key
        return Envelope(attributes: attributes, data: .init(text.utf8))
    }

    private func change(
        _ leased: inout LeasedDocuments, _ batch: Batch
    ) throws -> LeasedDocuments.Change? {
        try leased.change(by: batch, PackedMessages(batch.messages, isTransient: false))
    }

    private func texts(_ leased: LeasedDocuments, except changing: Set<DocumentName> = []) -> [[String]] {
        leased.batches(except: changing).map { $0.messages.map { String(decoding: $0.data, as: UTF8.self) } }
    }

    private func key(_ key: String) -> DocumentName {
        DocumentName(type, subject: "default", key: key)
    }

    @Test("A document that depends on a claim ends with the claim, and the others stay")
    func condition() throws {
        var leased = LeasedDocuments()
        let partition = Partition(subject: Session.default)
        let claim = ConsumerClaim(
            consumer: "worker", member: .shared, ownerGeneration: 3, epoch: 1, offsets: [partition: 7])
        let checkpoint = try #require(Checkpoint(guarding: partition, of: claim))
        let batches = [
            Batch([document("a", "1")], checkpoint: checkpoint, isLeased: true),
            Batch([document("b", "1")], isLeased: true),
        ]
        for (request, batch) in batches.enumerated() {
            leased.apply(try #require(try change(&leased, batch)), at: UInt64(request))
        }
        #expect(texts(leased) == [["1"], ["1"]], "each condition needs a batch of its own")
        leased.end(CheckpointFrame(checkpoint))
        #expect(leased.count == 1)
        #expect(leased.batches(except: []).map(\.condition) == [nil])
    }

    @Test("Only the last version of each document is published again, unless it was withdrawn or unleased")
    func last() throws {
        var leased = LeasedDocuments()
        let unleased = try change(&leased, Batch([document("a", "0")]))
        #expect(unleased == nil, "nothing is leased yet")
        for (request, batch) in [
            Batch([document("a", "1"), document("b", "1"), document("c", "1")], isLeased: true),
            Batch([document("a", "2")], isLeased: true),
            Batch([document("b", "2")]), Batch([document("c", "")]),
        ].enumerated() {
            let change = try #require(try change(&leased, batch))
            leased.apply(change, at: UInt64(request))
        }
        #expect(leased.count == 1)
        #expect(texts(leased) == [["2"]])
        let other = Batch([document("a", "3", type: MessageType(kind: .document, name: "Other"))])
        let unchanged = try change(&leased, other)
        #expect(unchanged == nil)
    }

    @Test("A late answer does not undo the change of a later batch")
    func lateAnswer() throws {
        var leased = LeasedDocuments()
        let first = try #require(
            try change(&leased, Batch([document("a", "1"), document("b", "1")], isLeased: true)))
        let second = try #require(
            try change(&leased, Batch([document("a", "2"), document("b", "")], isLeased: true)))
        leased.apply(second, at: 2)
        leased.forgetEnded(before: 1)
        leased.apply(first, at: 1)
        leased.forgetEnded(before: 3)
        #expect(leased.count == 1)
        #expect(texts(leased) == [["2"]])
    }

    @Test("A document that a pending batch changes is not published again")
    func underWay() throws {
        var leased = LeasedDocuments()
        let change = try #require(
            try change(&leased, Batch([document("a", "1"), document("b", "2")], isLeased: true)))
        leased.apply(change, at: 1)
        #expect(texts(leased, except: [key("a")]) == [["2"]])
        #expect(texts(leased, except: [key("a"), key("b")]).isEmpty)
    }

    @Test("The documents are published in batches of at most 1,024")
    func batches() throws {
        var leased = LeasedDocuments()
        for number in 0..<1030 {
            let change = try #require(try change(&leased, Batch([document("\(number)", "x")], isLeased: true)))
            leased.apply(change, at: UInt64(number))
        }
        #expect(texts(leased).map(\.count) == [1024, 6])
    }
}
