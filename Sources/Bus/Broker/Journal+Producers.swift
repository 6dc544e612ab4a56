internal import BusProtocol
internal import Foundation
internal import GRDB

extension Journal {
    func loadProducers(_ database: Database) throws {
        producers = [:]
        movedProducers = []
        let rows = try Row.fetchCursor(database, sql: "SELECT id, sequence, offset, time FROM producers")
        while let row = try rows.next() {
            guard let id = ProducerID(stored: row[0]) else { continue }
            producers[id] = ProducerRow(
                sequence: UInt64(clamping: row[1] as Int64), offset: UInt64(clamping: row[2] as Int64), time: row[3])
        }
    }

    /// Remembers how far a producer has been heard. Only inside ``transaction(at:_:)``.
    /// - Parameter time: when; at the time of the transaction unless said.
    func move(_ producer: ProducerID, to sequence: UInt64, offset: UInt64, at time: Int64? = nil) {
        let row = ProducerRow(sequence: sequence, offset: offset, time: time ?? self.time, hasMoved: true)
        if producers.updateValue(row, forKey: producer)?.hasMoved != true { movedProducers.append(producer) }
    }

    /// Writes the row of each producer that has moved.
    func saveMovedProducers() throws {
        for producer in movedProducers {
            producers[producer]?.hasMoved = false
            guard let row = producers[producer] else { continue }
            try producer.withUnsafeBytes { id in
                statements.saveProducer.bind(blob: id, at: 1)
                statements.saveProducer.bind(Int64(clamping: row.sequence), at: 2)
                statements.saveProducer.bind(Int64(clamping: row.offset), at: 3)
                statements.saveProducer.bind(row.time, at: 4)
                try statements.saveProducer.run()
            }
        }
        movedProducers.removeAll(keepingCapacity: true)
    }

    /// Forgets the producers that have been silent for long, or for longest. Only inside ``transaction(at:_:)``.
    /// - Parameter heard: those that live: however long ago they published, they go on where they were.
    func forgetProducers(
        but heard: some Sequence<ProducerID>, keeping capacity: Int = ProducerRow.capacity, _ database: Database
    ) throws {
        isSaveDue = true
        repeated = nil
        for producer in heard {
            guard let row = producers[producer] else { continue }
            move(producer, to: row.sequence, offset: row.offset)
        }
        var limit = time - ProducerRow.retention
        if producers.count > capacity {
            let times = producers.values.map(\.time).sorted()
            limit = max(limit, min(times[times.count - capacity], time))
        }
        try database.execute(sql: "DELETE FROM producers WHERE time < ?", arguments: [limit])
        producers = producers.filter { $0.value.time >= limit }
    }
}
