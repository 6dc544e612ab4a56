import BusFormat
import NATSLayout
import TestSupport
import Testing

@Suite struct InventoryRecordTests {
    @Test func `A record has the batches that were added, also after it was written and read`() throws {
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            let first = UInt64.random(in: 1...1000, using: &random)
            var record = InventoryRecord(first: first, epoch: 7)
            var (batches, sequence) = ([UInt64](), first)
            for _ in 0..<100 {
                sequence += UInt64.random(in: 0...20, using: &random)
                let isBatch = Bool.random(using: &random)
                let fits = record.extend(to: sequence, isBatch: isBatch)
                #expect(fits)
                if isBatch { batches.append(sequence) }
                sequence += 1
            }
            #expect(record.sequences == batches)
            #expect(record.end == sequence)
            #expect(try InventoryRecord(json: record.json()) == record)
        }
    }

    @Test func `A sequence beyond the stretch does not fit, and one within it changes nothing`() {
        var record = InventoryRecord(first: 10, epoch: 7)
        let (length, stretch) = (InventoryRecord.maximumLength, record.first)
        let fits = [stretch + 10, stretch + 5, stretch + length, stretch + length - 1].map {
            record.extend(to: $0, isBatch: true)
        }
        #expect(fits == [true, true, false, true])
        #expect(record.sequences == [stretch + 10, stretch + length - 1])
    }

    @Test func `A record whose size does not match its stretch is refused`() {
        for text in [
            #"{"version":1,"record":{"epoch":1,"first":1,"length":9000,"batches":""}}"#,
            #"{"version":1,"record":{"epoch":1,"first":1,"length":8,"batches":""}}"#,
            #"{"version":1,"record":{"epoch":1,"first":0,"length":0,"batches":""}}"#,
        ] {
            #expect(throws: ProtocolError.self) { try InventoryRecord(json: Array(text.utf8)) }
        }
    }
}
