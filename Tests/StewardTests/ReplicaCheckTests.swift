import EventBus
import NATS
import NATSLayout
import NATSTestSupport
import Testing

@testable import Steward

@Suite("Check of the servers", .timeLimit(.minutes(2)))
struct ReplicaCheckTests {
    @Test func `Batches that the only server has lost to a flipped bit are reported once`() async throws {
        try await TestJournal.run { journal in
            let (notices, writer) = AsyncStream.makeStream(of: BusNotice.self)
            let configuration = StewardConfiguration(namespace: journal.names.namespace) { notice in
                writer.yield(notice)
                return nil
            }
            let steward = Steward(journal.connection.options, configuration, logger: TestJournal.logger)
            try await during({ try await steward.run() }) {
                var last = 0
                // A file of the server has 8 MiB. Only what it cannot read in the last one is noticed by the server.
                let data = #"{"text":"\#(String(repeating: "x", count: 100_000))"}"#
                for _ in 0..<120 { last = try await journal.publish([message(.event, data: data)]) }
                let end = UInt64(last)
                try await journal.waitUntilInventory(end)
                try await journal.server.kill()
                try journal.server.flipBit(inMessagesOf: journal.names.journal)
                try await journal.server.restart()
                var found: [BusNotice] = []
                for await notice in notices {
                    found.append(notice)
                    break
                }
                #expect(found.map(\.code) == [.damaged])
                #expect(found.allSatisfy { $0.message.contains("no server has") && $0.severity == .error })
                let missing = try await journal.missing(upTo: last)
                #expect(found.allSatisfy { $0.message.contains("no server has \(missing) messages") })
            }
        }
    }

    @Test func `An inventory of a newer program is kept, and one of another epoch is removed`() async throws {
        try await TestJournal.run { journal in
            let last = try await journal.publish([message(.event)])
            let epoch = journal.journal.current
            var own = InventoryRecord(first: 1, epoch: epoch)
            let fits = own.extend(to: UInt64(last), isBatch: true)
            #expect(fits)
            try await journal.write(own, to: .inventory(first: 1))
            try await journal.write(InventoryRecord(first: 2, epoch: epoch &+ 1), to: .inventory(first: 2))
            let newer = #"{"version":2,"record":{}}"#
            _ = try await journal.jetStream.publish(journal.text(.inventory(first: 3)), body: Array(newer.utf8))
            let check = ReplicaCheck(
                journal.jetStream, names: journal.names, epoch: epoch, notices: journal.notices,
                logger: TestJournal.logger)
            #expect(try await check.inventory(upTo: last) == [last])
            var left: [String] = []
            try await journal.jetStream.readAll(
                of: journal.names.documents, ConsumerSettings(filters: [journal.names.inventories])
            ) { left.append($0.subject) }
            #expect(left == [1, 3].map { journal.text(.inventory(first: $0)) })
        }
    }

    @Test func `A consumer that is idle before its last message has arrived does not count as complete`() throws {
        var deliveries = DeliveredMessages()
        try deliveries.end(after: nil)
        try deliveries.end(after: 0)
        #expect(throws: NATSError.self) { try deliveries.end(after: 1) }
        try deliveries.record(1)
        try deliveries.record(2)
        try deliveries.end(after: 2)
        #expect(throws: NATSError.self) { try deliveries.end(after: 3) }
        #expect(throws: NATSError.self) { try deliveries.record(4) }
    }
}

extension TestJournal {
    /// Waits until an inventory has a sequence.
    fileprivate func waitUntilInventory(_ sequence: UInt64) async throws {
        while true {
            var end: UInt64 = 0
            try await jetStream.readAll(of: names.documents, ConsumerSettings(filters: [names.inventories])) {
                end = max(end, try InventoryRecord(json: $0.message.body).end)
            }
            if end > sequence { return }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// The number of batches up to a sequence that the server does not deliver.
    fileprivate func missing(upTo last: Int) async throws -> Int {
        var received = 0
        try await jetStream.readAll(of: names.journal, ConsumerSettings(filters: [names.batches], headersOnly: true)) {
            if $0.streamSequence <= last { received += 1 }
        }
        return 120 - received
    }
}
