import BusProtocol
import EventBus
import Foundation
import GRDB
import Testing

@testable import Broker

@Suite("Flipped bits in a row of the journal")
struct FlippedBitTests {
    /// A message that a reader got, or that a page named as damaged.
    private struct Reading: Equatable {
        var received: [UInt64] = []
        var damaged: [UInt64] = []
    }

    /// Reads all pages. Nil if the broker finds that the file is damaged.
    private func read(_ fixture: Fixture, _ filter: String) throws -> Reading? {
        var (reading, after) = (Reading(), UInt64(0))
        for _ in 0..<100 {
            guard let page = fixture.read(filter, after: after) else { return nil }
            reading.received += page.messages.map(\.offset)
            reading.damaged += page.damaged
            if page.isComplete { return reading }
            #expect(page.through > after)
            after = page.through
        }
        return nil
    }

    /// Calls `body` once for each bit of the row of an offset that is less than 128, after the bit has flipped in the
    /// file and the broker was started again.
    private func forEachBit(of offset: UInt8, in fixture: Fixture, _ body: (String) throws -> Void) throws {
        try fixture.journal.read { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        let url = URL(fileURLWithPath: fixture.path)
        let whole = try Data(contentsOf: url)
        let record = try Data(contentsOf: URL(fileURLWithPath: "\(fixture.path).end"))
        // A row begins with its number, the size of its header (12 bytes) and the type of the column `offset`.
        let row = try #require(whole.range(of: Data([offset, 12, 0])))
        #expect(whole.range(of: Data([offset, 12, 0]), in: row.upperBound..<whole.endIndex) == nil)
        let end = row.lowerBound + Int(whole[row.lowerBound - 1]) + 1
        for place in row.lowerBound..<end {
            for bit in 0..<8 {
                var data = whole
                data[place] ^= 1 << bit
                try data.write(to: url)
                for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.path + suffix) }
                try record.write(to: URL(fileURLWithPath: "\(fixture.path).end"))
                do { try fixture.restart() } catch is BusError { continue }
                try body("byte \(place - row.lowerBound), bit \(bit)")
                // Otherwise SQLite would write the log back to the next file.
                try? fixture.journal.read { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            }
        }
    }

    @Test(
        "A flipped bit costs at most its own message, which is reported by its offset",
        arguments: [1, 10, 19, 20] as [UInt8])
    func flipped(_ offset: UInt8) throws {
        try Fixture.run { fixture in
            for sequence in 1...UInt64(10) { _ = fixture.publish(sequence: sequence, ["A", "B"]) }
            let topics = [
                "event.A.": Array(stride(from: 1, to: 20, by: 2)), "event.B.": Array(stride(from: 2, to: 21, by: 2)),
            ]
            let epoch = fixture.journal.epoch
            var damageCount = 0
            try forEachBit(of: offset, in: fixture) { bit in
                // Without its number, the last row is a lost end.
                guard fixture.journal.head == 20 else {
                    #expect(fixture.journal.epoch != epoch && fixture.journal.head == 19, "\(bit)")
                    // The row may have the offset of a message to come.
                    _ = fixture.publish(sequence: 10, Array(repeating: "A", count: 200))
                    guard let reading = try read(fixture, "event.A.") else { return }
                    #expect(reading.received.suffix(200) == Array(20...219), "\(bit)")
                    #expect(reading.damaged == [], "\(bit)")
                    return
                }
                #expect(fixture.journal.epoch == epoch, "\(bit)")
                for (filter, offsets) in topics {
                    guard let reading = try read(fixture, filter) else { continue }
                    let all = offsets.map { UInt64($0) }
                    let isDamaged = reading.damaged == [UInt64(offset)]
                    #expect(isDamaged || reading.damaged.isEmpty, "\(bit) \(filter): \(reading.damaged)")
                    #expect(reading.received == all.filter { $0 != offset || !isDamaged }, "\(bit) \(filter)")
                    damageCount += isDamaged ? 1 : 0
                }
            }
            #expect(damageCount > 100)
        }
    }

    @Test(
        "A flipped bit in a retained document costs that document, which is reported",
        arguments: [1, 3] as [UInt8])
    func document(_ offset: UInt8) throws {
        try Fixture.run({ $0.retention = RetentionLimits(age: .seconds(1), size: nil) }) { fixture in
            for (sequence, name) in ["A", "B", "C"].enumerated() {
                _ = fixture.publish(sequence: UInt64(sequence) + 1, [name], kind: .document)
            }
            _ = fixture.publish(sequence: 4, ["E"])
            fixture.now = fixture.now.advanced(by: .seconds(60))
            var outgoing = Outgoing()
            while fixture.engine.prune(now: fixture.now, into: &outgoing) {}
            #expect(fixture.journal.pruned == 4)
            var damageCount = 0
            try forEachBit(of: offset, in: fixture) { bit in
                guard let messages = try read(fixture, "document."),
                    case .page(let page) = fixture.ask(
                        .documents(PageRequest(epoch: 0, after: 0, prefixes: ["document."])))
                else { return }
                let isDamaged = !page.damaged.isEmpty
                #expect(messages.damaged == page.damaged, "\(bit)")
                #expect(page.damaged == (isDamaged ? [UInt64(offset)] : []), "\(bit)")
                #expect(messages.received == [1, 2, 3].filter { $0 != offset || !isDamaged }, "\(bit)")
                #expect(page.messages.map(\.offset) == messages.received, "\(bit)")
                damageCount += isDamaged ? 1 : 0
            }
            #expect(damageCount > 50)
        }
    }
}
