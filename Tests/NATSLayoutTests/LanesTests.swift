import BusFormat
import EventBus
import Foundation
import TestSupport
import Testing

@testable import NATSLayout

@Suite("Lanes of a publisher")
struct LanesTests {
    private let now = ContinuousClock.now
    private static let event = MessageType(kind: .event, name: "A")
    private static let other = MessageType(kind: .event, name: "B")
    /// Subjects of three partitions.
    private static let subjects: [String] = {
        var subjects: [String] = []
        for candidate in (0..<100).map({ "s\($0)" }) {
            let partition = Partition(subject: candidate)
            if !subjects.contains(where: { Partition(subject: $0) == partition }) { subjects.append(candidate) }
        }
        return Array(subjects.prefix(3))
    }()

    private static func publication(_ subjects: [String], _ type: MessageType = event, id: String = "1") throws
        -> Publication
    {
        try Publication(Batch(subjects.map { Samples.message(type, subject: $0, id: id) }))
    }

    private func sendings(_ actions: [Lanes.Action]) -> [Lanes.Sending] {
        actions.compactMap { if case .send(let sending) = $0 { sending } else { nil } }
    }

    private func lookUp(_ sending: Lanes.Sending, after sequence: UInt64) -> Lanes.LookUp {
        Lanes.LookUp(number: sending.number, id: sending.message.headers.id, sequence: sequence)
    }

    private func results(_ actions: [Lanes.Action]) -> [UInt64: Result<Lanes.Recorded, BusError>] {
        var results: [UInt64: Result<Lanes.Recorded, BusError>] = [:]
        for case .finish(let call, let result) in actions { results[call.number] = result }
        return results
    }

    private func ids(_ sending: Lanes.Sending) throws -> [String] {
        try sending.message.content(at: 1, of: 1).messages.map { try $0.envelope().id }
    }

    @Test("Each lane has one message in progress, and batches that wait are sent together")
    func merging() throws {
        let (a, b) = (Self.subjects[0], Self.subjects[1])
        var lanes = Lanes(producer: ProducerID())
        var actions = lanes.add(.init(1), try Self.publication([a], id: "1"), at: now)
        let first = try #require(sendings(actions).first)
        #expect(sendings(lanes.add(.init(2), try Self.publication([a, a], id: "2"), at: now)).isEmpty)
        #expect(sendings(lanes.add(.init(3), try Self.publication([a], id: "3"), at: now)).isEmpty)
        // Another partition does not wait.
        #expect(sendings(lanes.add(.init(4), try Self.publication([b], id: "4"), at: now)).count == 1)
        // Another type of the same partition must not be overtaken.
        #expect(sendings(lanes.add(.init(5), try Self.publication([a], Self.other, id: "5"), at: now)).isEmpty)
        #expect(sendings(lanes.add(.init(6), try Self.publication([a], id: "6"), at: now)).isEmpty)
        actions = lanes.acknowledged(first.number, sequence: 10, of: 1, at: now)
        #expect(try results(actions)[1]?.get() == .init(epoch: 1, sequence: 10, offset: StreamPosition.end(of: 10)))
        let merged = try #require(sendings(actions).first)
        #expect(sendings(actions).count == 1)
        #expect(try ids(merged) == ["2", "2", "3"])
        #expect(merged.message.headers.count == 3)
        actions = lanes.acknowledged(merged.number, sequence: 12, of: 1, at: now)
        #expect(try results(actions)[2]?.get().position?.offset == StreamPosition.end(of: 12) - 1)
        #expect(try results(actions)[3]?.get().position?.offset == StreamPosition.end(of: 12))
        #expect(try ids(try #require(sendings(actions).first)) == ["5"])
    }

    @Test("A batch of several partitions blocks all of them, and no later one overtakes it")
    func severalPartitions() throws {
        let (a, b, c) = (Self.subjects[0], Self.subjects[1], Self.subjects[2])
        var lanes = Lanes(producer: ProducerID())
        let first = try #require(sendings(lanes.add(.init(1), try Self.publication([a]), at: now)).first)
        #expect(sendings(lanes.add(.init(2), try Self.publication([a, b]), at: now)).isEmpty)
        #expect(sendings(lanes.add(.init(3), try Self.publication([b]), at: now)).isEmpty)
        #expect(sendings(lanes.add(.init(4), try Self.publication([c]), at: now)).count == 1)
        let second = sendings(lanes.acknowledged(first.number, sequence: 1, of: 1, at: now))
        #expect(second.count == 1 && second[0].message.headers.count == 2)
        let third = sendings(lanes.acknowledged(second[0].number, sequence: 2, of: 1, at: now))
        #expect(third.count == 1 && third[0].message.headers.count == 1)
    }

    @Test("A message is sent again with the same id after growing pauses, and searched for before its id expires")
    func resending() throws {
        var lanes = Lanes(producer: ProducerID())
        lanes.see(40)
        let first = try #require(sendings(lanes.add(.init(1), try Self.publication([Self.subjects[0]]), at: now)).first)
        var time = now
        var pauses: [Duration] = []
        for _ in 0..<6 {
            lanes.retry(first.number, at: time)
            lanes.retry(first.number, at: time)
            let next = try #require(lanes.nextTick)
            pauses.append(next - time)
            #expect(sendings(lanes.tick(at: next - .milliseconds(1)).actions).isEmpty)
            time = next
            #expect(sendings(lanes.tick(at: time).actions) == [first])
            #expect(lanes.nextTick == nil)
        }
        #expect(pauses == [100, 200, 400, 800, 1000, 1000].map { .milliseconds($0) })
        #expect(lanes.oldestSending == now)
        lanes.see(90)
        time = now + .seconds(90)
        lanes.retry(first.number, after: .milliseconds(10), at: time)
        time += .milliseconds(10)
        guard lanes.tick(at: time).lookUps == [lookUp(first, after: 40)] else {
            Issue.record("the id may be forgotten, and was not looked up")
            return
        }
        // A look-up that fails is tried again.
        lanes.retry(first.number, after: .zero, at: time)
        guard lanes.tick(at: time).lookUps == [lookUp(first, after: 40)] else {
            Issue.record("the message was sent without a look-up")
            return
        }
        #expect(sendings(lanes.lookedUp(first.number, found: nil, of: 1, at: time)) == [first])
        lanes.retry(first.number, at: time + .seconds(89))
        #expect(sendings(lanes.tick(at: time + .seconds(89.9)).actions).isEmpty)
        lanes.reconnected(at: time + .seconds(89.9))
        #expect(sendings(lanes.tick(at: time + .seconds(89.9)).actions) == [first])
        lanes.retry(first.number, at: time + .seconds(95))
        guard lanes.tick(at: time + .seconds(100)).lookUps.count == 1 else {
            Issue.record("the new window was not counted from the look-up")
            return
        }
        let actions = lanes.lookedUp(first.number, found: 55, of: 1, at: time + .seconds(100))
        #expect(try results(actions)[1]?.get().sequence == 55)
        #expect(lanes.acknowledged(first.number, sequence: 55, of: 1, at: time).isEmpty)
    }

    @Test("A refusal fails only the calls of its message, and the next message is sent")
    func refused() throws {
        let a = Self.subjects[0]
        var lanes = Lanes(producer: ProducerID())
        let first = try #require(sendings(lanes.add(.init(1), try Self.publication([a]), at: now)).first)
        _ = lanes.add(.init(2), try Self.publication([a]), at: now)
        let actions = lanes.refused(first.number, BusError(.refused, "no right"), at: now)
        #expect(throws: BusError.self) { try results(actions)[1]?.get() }
        #expect(results(actions).count == 1 && sendings(actions).count == 1)
        #expect(lanes.refused(first.number, BusError(.refused, ""), at: now).isEmpty)
    }

    @Test("A message whose second copy is refused by its expectation is searched for")
    func refusedAgain() throws {
        struct NotLookedUp: Error {}
        let refusal = BusError(.fenced, "wrong last sequence")
        func sentTwice(_ lanes: inout Lanes) throws -> Lanes.Sending {
            let actions = lanes.add(.init(1), try Self.publication([Self.subjects[0]]), at: now)
            guard let first = sendings(actions).first else { throw NotLookedUp() }
            lanes.retry(first.number, after: .zero, at: now)
            #expect(sendings(lanes.tick(at: now).actions) == [first])
            #expect(lanes.refused(first.number, refusal, at: now).isEmpty)
            guard lanes.tick(at: now).lookUps == [lookUp(first, after: 0)] else {
                throw NotLookedUp()
            }
            return first
        }
        var lanes = Lanes(producer: ProducerID())
        let stored = try sentTwice(&lanes)
        #expect(try results(lanes.lookedUp(stored.number, found: 7, of: 1, at: now))[1]?.get().sequence == 7)
        lanes = Lanes(producer: ProducerID())
        let lost = try sentTwice(&lanes)
        // The late answer to the first sending says nothing more.
        #expect(lanes.refused(lost.number, refusal, at: now).isEmpty)
        #expect(throws: refusal) { try results(lanes.lookedUp(lost.number, found: nil, of: 1, at: now))[1]?.get() }
        lanes = Lanes(producer: ProducerID())
        let once = try #require(
            sendings(lanes.add(.init(1), try Self.publication([Self.subjects[0]]), at: now)).first)
        #expect(throws: refusal) { try results(lanes.refused(once.number, refusal, at: now))[1]?.get() }
    }

    @Test("A partition of a consumer has one message in progress, whatever its results are")
    func owners() throws {
        let claim = Samples.claim("c")
        let partition = Partition.all[5]
        func results(_ subject: String, _ offset: UInt64) throws -> Publication {
            let checkpoint = Checkpoint(
                claim: claim, position: Position(epoch: 1, offset: offset), partition: partition,
                previous: nil, settled: offset)
            return try Publication(
                Batch([Samples.message(Self.event, subject: subject)], checkpoint: checkpoint),
                owner: ConsumerPartition("c", partition))
        }
        var lanes = Lanes(producer: ProducerID())
        let first = sendings(lanes.add(.init(1), try results(Self.subjects[0], 1), at: now))
        #expect(first.map(\.message.headers.id) == ["c/05/1/3"])
        #expect(sendings(lanes.add(.init(2), try results(Self.subjects[1], 2), at: now)).isEmpty)
        #expect(sendings(lanes.add(.init(3), try results(Self.subjects[1], 3), at: now)).isEmpty)
        // A plain batch of the second result's partition is behind it.
        #expect(sendings(lanes.add(.init(4), try Self.publication([Self.subjects[1]]), at: now)).isEmpty)
        let second = sendings(lanes.acknowledged(first[0].number, sequence: 1, of: 1, at: now))
        #expect(second.map(\.message.headers.id) == ["c/05/2/3"], "results are not merged")
    }

    @Test("Only batches that do not depend on an ended epoch are sent again")
    func newEpoch() throws {
        var lanes = Lanes(producer: ProducerID())
        _ = lanes.follow(1, at: now)
        func results(_ offset: UInt64) throws -> Publication {
            let owner = ConsumerPartition("c", Partition(subject: "a"))
            let checkpoint = Checkpoint(
                claim: Samples.claim("c"), position: Position(epoch: 1, offset: offset), partition: owner.partition,
                previous: nil, settled: offset)
            return try Publication(
                Batch([], checkpoint: checkpoint), owner: owner, expectation: Expectation(subject: "f", sequence: 3))
        }
        _ = lanes.add(Lanes.CallID(1), try results(5), at: now)
        _ = lanes.add(Lanes.CallID(2), try results(6), at: now)
        _ = lanes.add(Lanes.CallID(3), try Self.publication(["b"], id: "b"), at: now)
        let ended = self.results(lanes.follow(2, at: now))
        #expect(Set(ended.keys) == [1, 2])
        for result in ended.values {
            guard case .failure(let error) = result else {
                Issue.record("a batch of an ended epoch was published")
                continue
            }
            #expect(error.code == .epoch)
        }
        lanes.reconnected(at: now)
        #expect(sendings(lanes.tick(at: now).actions).map(\.number) == [2])
        #expect(Set(self.results(lanes.add(Lanes.CallID(4), try results(7), at: now)).keys) == [4])
    }

    @Test("A message that is acknowledged in an ended epoch is sent again, because it may be lost")
    func lateAcknowledgement() throws {
        var lanes = Lanes(producer: ProducerID())
        _ = lanes.follow(1, at: now)
        let first = try #require(sendings(lanes.add(.init(1), try Self.publication(["a"]), at: now)).first)
        _ = lanes.follow(2, at: now)
        #expect(results(lanes.acknowledged(first.number, sequence: 90, of: 1, at: now)).isEmpty)
        let time = try #require(lanes.nextTick)
        #expect(sendings(lanes.tick(at: time).actions) == [first])
        let result = results(lanes.acknowledged(first.number, sequence: 40, of: 2, at: time))[1]
        #expect(try result?.get().position == Position(epoch: 2, offset: StreamPosition.end(of: 40)))
    }

    @Test("Further batches have the limit of the restarted server")
    func otherLimit() throws {
        var configuration = Lanes.Configuration()
        configuration.maximumBatchSize = 10
        var lanes = Lanes(producer: ProducerID(), configuration: configuration)
        let refused = results(lanes.add(.init(1), try Self.publication(["a"]), at: now))[1]
        #expect(throws: BusError.self) { try refused?.get() }
        lanes.limit(maximumPayload: 1 << 20, maximumBatchSize: 1 << 20)
        #expect(sendings(lanes.add(.init(2), try Self.publication(["a"]), at: now)).count == 1)
    }

    @Test("Leased batches have one message in progress, because each expects the same record")
    func leases() throws {
        let producer = ProducerID()
        func leased(_ subject: String) throws -> Publication {
            let document = Samples.message(MessageType(kind: .document, name: "D"), subject: subject)
            return try Publication(Batch([document], isLeased: true), lease: producer)
        }
        var lanes = Lanes(producer: producer)
        let first = sendings(lanes.add(.init(1), try leased(Self.subjects[0]), at: now))
        #expect(sendings(lanes.add(.init(2), try leased(Self.subjects[1]), at: now)).isEmpty)
        #expect(first.map(\.message.headers.lease) == [producer])
        #expect(sendings(lanes.acknowledged(first[0].number, sequence: 1, of: 1, at: now)).count == 1)
    }

    @Test("A cancelled batch that waits is not published, one that was sent is, and both make room")
    func cancelling() throws {
        let (a, b) = (Self.subjects[0], Self.subjects[1])
        var lanes = Lanes(producer: ProducerID())
        let first = try #require(sendings(lanes.add(.init(1), try Self.publication([a]), at: now)).first)
        _ = lanes.add(.init(2), try Self.publication([a, b]), at: now)
        #expect(sendings(lanes.add(.init(3), try Self.publication([b]), at: now)).isEmpty)
        let removed = lanes.cancel(.init(2), at: now)
        #expect(removed.isRemoved && sendings(removed.actions).count == 1, "the batch that waited for it is sent")
        let isSentRemoved = lanes.cancel(.init(1), at: now).isRemoved
        #expect(!isSentRemoved)
        let isRemovedLater = lanes.cancel(.init(1), at: now).isRemoved
        #expect(!isRemovedLater)
        #expect(results(lanes.acknowledged(first.number, sequence: 1, of: 1, at: now)).isEmpty)
        let isAdmitted = lanes.admit(.init(9), size: 1)
        #expect(isAdmitted)
        let isAdmittedRemoved = lanes.cancel(.init(9), at: now).isRemoved
        #expect(isAdmittedRemoved)
    }

    @Test("Calls beyond the capacity wait in order, and are admitted one by one")
    func capacity() throws {
        var configuration = Lanes.Configuration()
        configuration.capacity = 3
        configuration.byteCapacity = 100
        var lanes = Lanes(producer: ProducerID(), configuration: configuration)
        let admitted = ([1, 2, 3, 4, 5, 6] as [UInt64]).map { lanes.admit(.init($0), size: 10) }
        #expect(admitted == [true, true, true, false, false, false])
        let first = try #require(sendings(lanes.add(.init(1), try Self.publication([Self.subjects[0]]), at: now)).first)
        let actions = lanes.acknowledged(first.number, sequence: 1, of: 1, at: now)
        func admissions(_ actions: [Lanes.Action]) -> [UInt64] {
            actions.compactMap { if case .admit(let call) = $0 { call.number } else { nil } }
        }
        #expect(admissions(actions) == [4])
        #expect(admissions(lanes.cancel(.init(5), at: now).actions) == [])
        #expect(admissions(lanes.cancel(.init(2), at: now).actions) == [6])
        let isLargeAdmitted = lanes.admit(.init(7), size: 200)
        #expect(!isLargeAdmitted, "there is no room for its bytes")
        #expect(admissions(lanes.cancel(.init(3), at: now).actions + lanes.cancel(.init(4), at: now).actions) == [])
        #expect(admissions(lanes.cancel(.init(6), at: now).actions) == [7], "a large batch is admitted alone")
        let ended = results(lanes.close(BusError(.closed, "closed")))
        #expect(ended.keys.sorted() == [7])
    }

    @Test("A batch that is too large for the server is refused, and merged batches stay within the limit")
    func payload() throws {
        var configuration = Lanes.Configuration()
        configuration.maximumPayload = 1500
        var lanes = Lanes(producer: ProducerID(), configuration: configuration)
        let a = Self.subjects[0]
        let large = try Publication(
            Batch([Samples.message(Self.event, subject: a, data: String(repeating: "1", count: 1400))]))
        let refused = results(lanes.add(.init(1), large, at: now))
        #expect(throws: BusError.self) { try refused[1]?.get() }
        var sending = try #require(sendings(lanes.add(.init(2), try Self.publication([a]), at: now)).first)
        for call in 3...20 { _ = lanes.add(.init(UInt64(call)), try Self.publication([a]), at: now) }
        var count = 1
        while let next = sendings(lanes.acknowledged(sending.number, sequence: 1, of: 1, at: now)).first {
            #expect(next.message.size <= 1500)
            #expect(next.message.headers.count > 1 || count == 18)
            count += next.message.headers.count
            sending = next
        }
        #expect(count == 19)
        var many = Lanes(producer: ProducerID())
        let full = try Self.publication(Array(repeating: a, count: 700))
        let first = try #require(sendings(many.add(.init(1), full, at: now)).first)
        for call in [2, 3] as [UInt64] { _ = many.add(.init(call), full, at: now) }
        let rest = sendings(many.acknowledged(first.number, sequence: 1, of: 1, at: now))
        #expect(rest.map(\.message.headers.count) == [700])
    }

    /// A stream that loses, repeats and delays messages and answers, but knows ids for a while.
    private struct ModelStream {
        var stored: [(id: String, message: BatchMessage)] = []

        mutating func store(_ message: BatchMessage) -> UInt64 {
            if let index = stored.firstIndex(where: { $0.id == message.headers.id }) { return UInt64(index + 1) }
            stored.append((message.headers.id, message))
            return UInt64(stored.count)
        }
    }

    @Test(
        "Each batch is stored once, whole and in order, in random histories with losses and repeats",
        arguments: 0..<30)
    func random(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var configuration = Lanes.Configuration()
        configuration.capacity = 20
        var lanes = Lanes(producer: ProducerID(), configuration: configuration)
        var stream = ModelStream()
        var time = now
        var publications: [UInt64: Publication] = [:]
        var results: [UInt64: Lanes.Recorded] = [:]
        var cancelled: Set<UInt64> = []
        var transmissions: [Lanes.Sending] = []
        var lookUps: [Lanes.LookUp] = []
        var underWay: [UInt64: Set<Partition>] = [:]

        func perform(_ actions: [Lanes.Action]) throws {
            var actions = actions[...]
            while let action = actions.popFirst() {
                switch action {
                case .send(let sending):
                    let partitions = Set(
                        try sending.message.content(at: 1, of: 1).messages.map {
                            Partition(subject: $0.message.subject)
                        })
                    for (number, held) in underWay where number != sending.number {
                        #expect(held.isDisjoint(with: partitions), "two messages of a partition are under way")
                    }
                    underWay[sending.number] = partitions
                    transmissions.append(sending)
                case .finish(let call, let result):
                    #expect(results[call.number] == nil)
                    results[call.number] = try result.get()
                case .admit(let call):
                    actions += try lanes.add(call, #require(publications[call.number]), at: time)
                }
            }
        }

        func tick() throws {
            let due = lanes.tick(at: time)
            lookUps += due.lookUps
            try perform(due.actions)
        }

        var call: UInt64 = 0
        var steps = 0
        while call < 200 || !transmissions.isEmpty || lanes.oldestSending != nil {
            steps += 1
            try #require(steps < 100_000)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0...3 where call < 200:
                call += 1
                let type = generator.chance(1, in: 4) ? Self.other : Self.event
                let subjects = (0..<Int.random(in: 1...3, using: &generator)).compactMap { _ in
                    generator.chance(1, in: 3) ? Self.subjects.randomElement(using: &generator) : Self.subjects[0]
                }
                let publication = try Publication(
                    Batch(subjects.enumerated().map { Samples.message(type, subject: $1, id: "\(call).\($0)") }))
                publications[call] = publication
                if lanes.admit(.init(call), size: publication.body.count) {
                    try perform(lanes.add(.init(call), publication, at: time))
                }
            case 4 where generator.chance(1, in: 5) && call > 0:
                let chosen = UInt64.random(in: 1...call, using: &generator)
                guard results[chosen] == nil else { continue }
                let (isRemoved, actions) = lanes.cancel(.init(chosen), at: time)
                if isRemoved { cancelled.insert(chosen) }
                try perform(actions)
            case 5:
                time += .milliseconds(Int.random(in: 0...3_000, using: &generator))
                if generator.chance(1, in: 10) { time += .seconds(60) }
                try tick()
            case 6 where generator.chance(1, in: 10): lanes.reconnected(at: time)
            case 7 where !lookUps.isEmpty:
                let lookUp = lookUps.removeFirst()
                let index = stream.stored.firstIndex { $0.id == lookUp.id }
                if let index { #expect(UInt64(index + 1) > lookUp.sequence, "it is searched for behind its place") }
                if index != nil { underWay[lookUp.number] = nil }
                try perform(lanes.lookedUp(lookUp.number, found: index.map { UInt64($0 + 1) }, of: 1, at: time))
            default:
                guard !transmissions.isEmpty else {
                    if let next = lanes.nextTick {
                        time = max(time, next)
                        try tick()
                    }
                    continue
                }
                let sending = transmissions.remove(at: Int.random(in: 0..<transmissions.count, using: &generator))
                let isLost = generator.chance(1, in: 5)
                guard !isLost else {
                    lanes.retry(sending.number, at: time)
                    continue
                }
                let sequence = stream.store(sending.message)
                if generator.chance(1, in: 5) {
                    lanes.retry(sending.number, at: time)
                } else {
                    underWay[sending.number] = nil
                    try perform(lanes.acknowledged(sending.number, sequence: sequence, of: 1, at: time))
                }
            }
        }
        var offsets: [String: UInt64] = [:]
        var order: [String: [UInt64]] = [:]
        for (index, (_, message)) in stream.stored.enumerated() {
            for stored in try message.content(at: UInt64(index + 1), of: 1).messages {
                let envelope = try stored.envelope()
                #expect(offsets[envelope.id] == nil, "stored twice")
                offsets[envelope.id] = stored.position.offset
                order[envelope.subject, default: []].append(UInt64(envelope.id.prefix { $0 != "." }) ?? 0)
            }
        }
        for (call, publication) in publications {
            let last = offsets["\(call).\(publication.count - 1)"]
            #expect((last == nil) == cancelled.contains(call))
            if let result = results[call] {
                #expect(result.position?.offset == last)
                #expect(offsets["\(call).0"] == last.map { $0 - UInt64(publication.count - 1) })
            }
        }
        #expect(order.values.allSatisfy { $0 == $0.sorted() }, "a subject's messages are out of order")
        #expect(results.count > 100)
        #expect(stream.stored.count < publications.count, "nothing was merged")
    }
}
