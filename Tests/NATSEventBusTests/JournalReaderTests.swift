import BusConformance
import BusFormat
import EventBus
import Foundation
import Logging
import NATS
import NATSLayout
import NATSTestSupport
import Support
import Synchronization
import TestSupport
import Testing

@testable import NATSEventBus

@Suite("NATS bus: reading", .sharedServer, .timeLimit(.minutes(2)))
struct JournalReaderTests {
    @Test func `A message that is not a batch is skipped with a warning, and the reader continues`() async throws {
        let bus = try await TestBus.make()
        let log = LogRecorder()
        let good = try Publication(Batch([Counted(number: 7).envelope()]))
        let subject = good.subject.text(in: bus.namespace)
        var truncated = good.body
        truncated.removeLast()
        // The topic is in the first bytes of the body, after its length.
        var misnamed = good.body
        misnamed.replaceSubrange(2..<7, with: "other".utf8)
        let hostile: [(NATSHeaders, [UInt8])] = [
            ([:], []), ([:], Array("hello".utf8)), (["Segue-Batch": "1"], []), (["Segue-Batch": "x"], good.body),
            (["Segue-Batch": "0"], good.body), (["Segue-Batch": "18446744073709551615"], good.body),
            (["Segue-Batch": "1"], truncated), (["Segue-Batch": "2"], good.body), (["Segue-Batch": "1"], misnamed),
            (["Segue-Batch": "1", "Segue-Progress": "1/2/3"], good.body), (["Segue-Batch": "1", "Status": "404"], []),
            (["Segue-Batch": "1", "Segue-Rejection": "1"], good.body),
        ]
        try await bus.whileOpen(logger: log.logger) { client in
            let received = try await client.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                try await bus.withJetStream { jetStream in
                    for (headers, body) in hostile {
                        _ = try await jetStream.publish(subject, headers: headers, body: body)
                    }
                }
                try await client.publish(Counted(number: 8))
                return try await messages.receive(1)
            }
            #expect(try received.numbers == [8])
            #expect(log.count(of: "a message was skipped") >= hostile.count - 2, "a batch of nothing is a batch")
            let end = try await client.end()
            // The other ways to read the journal.
            #expect(try await client.documents(matching: [.all]).isEmpty)
            #expect(try await client.bus.inspect.newest(matching: [.type(Counted.self)]) == end)
            #expect(try await client.lag(after: Position(epoch: end.epoch, offset: 0), matching: [.all]) > 0)
            #expect(try await client.position(end, offsetBy: -1).offset < end.offset)
            let all = try await client.withSubscription(
                to: [.all], from: .beginning, until: end, onNotice: nil
            ) { try await $0.receive(.max) }
            #expect(all.last?.position == end)
        }
    }

    @Test func `A malformed transient message is skipped`() async throws {
        let bus = try await TestBus.make()
        let log = LogRecorder()
        try await bus.whileOpen(logger: log.logger) { client in
            let received = try await client.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                let subject = "\(bus.namespace).t.event.Counted.00.00"
                for headers in [[:], ["Segue-After": "1/2"], ["Segue-After": "x/y", "Segue-Batch": "1"]]
                    as [NATSHeaders]
                {
                    try client.journal.connection.publish(subject, headers: headers, body: [1, 2, 3])
                }
                try await client.publishTransient([Counted(number: 1).envelope()])
                return try await messages.receive(1)
            }
            #expect(try received.numbers == [1])
            #expect(received.map(\.position) == [nil])
            #expect(log.count(of: "a message was skipped") == 3)
        }
    }

    @Test func `A transient message does not wait for messages that are not for the subscription`() async throws {
        let bus = try await TestBus.make()
        try await bus.whileOpen { client in
            let received = try await client.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                for number in 0..<20 {
                    try await client.publish(State(value: "\(number)"))
                    try await client.publishTransient([Counted(number: number).envelope()])
                }
                return try await messages.receive(20)
            }
            #expect(try received.numbers == Array(0..<20))
        }
    }

    @Test func `A consumer that the server has lost is replaced, without a loss`() async throws {
        let bus = try await TestBus.make()
        try await bus.whileOpen { client in
            try await client.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                for round in 0..<3 {
                    for number in 0..<20 { try await client.publish(Counted(number: round * 20 + number)) }
                    #expect(try await messages.receive(20).numbers == Array(round * 20..<round * 20 + 20))
                    try await bus.withJetStream { jetStream in
                        let stream = bus.names.journal
                        let names = try await jetStream.call("CONSUMER.NAMES.\(stream)")["consumers"]?.arrayValue
                        for name in names?.compactMap(\.stringValue) ?? [] {
                            try await jetStream.call("CONSUMER.DELETE.\(stream).\(name)")
                        }
                    }
                }
            }
        }
    }

    @Test func `A subscription reports the types that retention has removed`() async throws {
        let bus = try await TestBus.make()
        try await bus.whileOpen { client in
            let first = try #require(try await client.publish(Counted(number: 0)).position)
            let removed = try #require(try await client.publish(Counted(number: 1)).position)
            try await client.publish(State(value: "1"))
            let kept = try #require(try await client.publish(Counted(number: 2), subject: "other").position)
            var table = TypeTable()
            table.record(Counted.type, at: kept.offset)
            try await bus.remove(before: kept, types: table)
            let notices = Mutex<[SubscriptionNotice]>([])
            for start in [StartPosition.after(first), .beginning] {
                let received = try await client.withSubscription(
                    to: [.type(Counted.self)], from: start, until: nil,
                    onNotice: { notice in notices.withLock { $0.append(notice) } }
                ) { try await $0.receive(1) }
                #expect(try received.numbers == [2])
            }
            // Not for the second subscription, which begins at the oldest message that is kept.
            #expect(notices.withLock(\.self).count == 1)
            guard case .removed(Counted.type, let through)? = notices.withLock(\.first) else {
                Issue.record("there is no notice")
                return
            }
            #expect(through >= removed.offset)
            #expect(through < kept.offset)
        }
    }

    @Test func `A subscription from before the first message reports no removal if there was none`() async throws {
        let bus = try await TestBus.make()
        // Control records take the first sequences.
        try await bus.withJetStream { jetStream in
            for term in 1...3 {
                let record = StewardRecord(instance: UUID(), term: UInt64(term))
                _ = try await jetStream.publish(BusSubject.steward.text(in: bus.namespace), body: record.json())
            }
        }
        try await bus.whileOpen { client in
            let position = try #require(try await client.publish(Counted(number: 0)).position)
            var table = TypeTable()
            table.record(Counted.type, at: position.offset)
            try await bus.withJetStream { [table] jetStream in
                _ = try await jetStream.publish(BusSubject.typeTable.text(in: bus.namespace), body: table.json())
            }
            let received = try await client.withSubscription(
                to: [.all], from: .after(Position(epoch: position.epoch, offset: 1)), until: nil,
                onNotice: { Issue.record("\($0)") }
            ) { try await $0.receive(1) }
            #expect(received.map(\.position) == [position])
        }
    }

    @Test func `A slow subscriber reports what retention has removed before it`() async throws {
        let bus = try await TestBus.make()
        try await bus.whileOpen { client in
            let notices = Mutex<[SubscriptionNotice]>([])
            try await client.withSubscription(
                to: [.type(Counted.self)], from: .now, until: nil,
                onNotice: { notice in notices.withLock { $0.append(notice) } }
            ) { messages in
                // More than the buffers hold.
                for number in 0..<3000 { try await client.publish(Counted(number: number)) }
                let end = try await client.end()
                var table = TypeTable()
                table.record(Counted.type, at: end.offset)
                try await bus.remove(before: end, types: table)
                var count = 0
                for try await message in messages {
                    count += 1
                    if message.position == end { break }
                }
                #expect(count < 3000)
            }
            #expect(notices.withLock(\.count) >= 1)
        }
    }

    @Test func `A new journal is read from its beginning, and a subscription until a position fails`()
        async throws
    {
        let bus = try await TestBus.make()
        try await bus.whileOpen { client in
            let old = try #require(try await client.publish(Counted(number: 0)).position)
            try await client.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                let until = Position(epoch: old.epoch, offset: old.offset + 1_000_000)
                try await client.publish(Counted(number: 1))
                #expect(try await messages.receive(1).numbers == [1])
                async let failing = client.withSubscription(
                    to: [.type(State.self)], from: .now, until: until, onNotice: nil
                ) { try await $0.receive(1) }
                try await bus.withJetStream { jetStream in
                    try await jetStream.deleteStream(bus.names.journal)
                }
                try await bus.makeStreams()
                do {
                    Issue.record("the reading ended with \(try await failing)")
                } catch let error as BusError {
                    #expect(error.code == .epoch)
                }
                try await client.publish(Counted(number: 2))
                #expect(try await messages.receive(1).numbers == [2])
            }
        }
    }

    @Test func `A transient message of a new epoch does not overtake the batch that was published before it`()
        async throws
    {
        let bus = try await TestBus.make()
        try await bus.whileOpen { client in
            let connection = client.journal.connection
            try await client.publish(Counted(number: 0))
            try await client.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                try await bus.withJetStream { try await $0.deleteStream(bus.names.journal) }
                try await bus.makeStreams()
                try await client.publish(Counted(number: 1))
                let received = try await messages.receive(1)
                #expect(try received.numbers == [1])
                let first = try #require(received[0].position)
                // Its publisher had the batch before it acknowledged. It comes before the batch nevertheless.
                let next = TransientPosition(
                    epoch: first.epoch, sequence: StreamPosition(offset: first.offset).sequence + 1)
                let late = try PackedMessages([Counted(number: 3).envelope()], isTransient: true)
                try connection.publish(
                    "\(bus.namespace).t.event.Counted.00.00", headers: next.headers(count: 1), body: late.bytes)
                try await connection.roundTrip()
                try await client.publish(Counted(number: 2))
                #expect(try await messages.receive(2).numbers == [2, 3])
            }
        }
    }

    @Test func `A message that arrives after a change of the epoch is delivered in the new one`() async throws {
        let bus = try await TestBus.make()
        try await bus.whileOpen { client in
            try await client.withSubscription(to: [.type(Counted.self)], from: .now) { messages in
                let first = try #require(try await client.publish(Counted(number: 1)).position)
                #expect(try await messages.receive(1).numbers == [1])
                let next = first.epoch &+ 1
                try await bus.withJetStream { jetStream in
                    let info = try await jetStream.stream(bus.names.journal)
                    let epochs = try #require(JournalEpochs(metadata: info.metadata))
                        .beginning(next, after: UInt64(info.lastSequence))
                    _ = try await jetStream.updateStream(info.settings(adding: epochs.metadata))
                }
                // The reader waits for a message, and does not know it yet.
                await client.journal.handle(epoch: next)
                try await client.publish(Counted(number: 2))
                let received = try await messages.receive(1)
                #expect(try received.numbers == [2])
                #expect(received.map(\.position?.epoch) == [next])
            }
        }
    }

    @Test func `Transient messages for a slow subscriber are limited by their size`() async throws {
        let bus = try await TestBus.make()
        let log = LogRecorder()
        try await bus.whileOpen(logger: log.logger) { client in
            let large = String(repeating: "v", count: 16_000)
            let received = try await client.withSubscription(to: [.all], from: .now) { messages in
                for _ in 0..<12 {
                    var message = try Counted(number: 0).envelope()
                    message.data = Data(#"{"number":0,"rest":"\#(large)"}"#.utf8)
                    try await client.publishTransient(Array(repeating: message, count: 64))
                }
                try await client.journal.connection.roundTrip()
                try await client.publish(Counted(number: 1))
                var numbers: [Int] = []
                for try await message in messages {
                    numbers.append(try message.decode(Counted.self).number)
                    if numbers.last == 1 { break }
                }
                return numbers
            }
            // Each batch has about 1 MiB.
            #expect((7 * 64...9 * 64).contains(received.count - 1))
            #expect((3...5).contains(log.count(of: "a message was skipped")))
        }
    }

    @Test func `An idle subscription knows that it has received everything, also messages for others`() async throws {
        let bus = try await TestBus.make()
        try await bus.whileOpen { client in
            let epoch = try await client.journal.identity().epoch
            let reader = JournalReader(
                client.journal, filters: [.type(Counted.self)], range: JournalReader.Range(epoch: epoch, start: 0),
                skipped: client.skipped, onNotice: nil)
            try await withThrowingTaskGroup(of: Envelope?.self) { group in
                group.addTask {
                    await reader.run()
                    return nil
                }
                #expect(try await reader.idlePosition() == nil, "nobody waits for a message")
                try await client.publish(Counted(number: 1))
                _ = try await reader.next()
                group.addTask { try await reader.next() }
                let end = try #require(try await client.publish(State(value: "1")).position)
                var idle = try await reader.idlePosition()
                while idle == nil {
                    await Task.yield()
                    idle = try await reader.idlePosition()
                }
                #expect(idle == end)
                group.cancelAll()
            }
        }
    }
}

extension TestBus {
    /// Removes the batches before a position, as the steward does.
    fileprivate func remove(before position: Position, types: TypeTable) async throws {
        let sequence = StreamPosition(offset: position.offset).sequence
        try await withJetStream { jetStream in
            _ = try await jetStream.publish(BusSubject.typeTable.text(in: namespace), body: types.json())
            _ = try await jetStream.publish(
                BusSubject.removal.text(in: namespace), body: RemovalRecord(sequence: sequence - 1).json())
            try await jetStream.purge(names.journal, filter: names.batches, before: Int(sequence))
        }
    }
}
