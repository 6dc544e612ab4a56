internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

/// How durable consumers are kept in their tables.
extension Journal {
    func loadConsumers(_ database: Database) throws {
        var shares: [String: [ConsumerGroup.Share]] = [:]
        let rows = try Row.fetchCursor(
            database, sql: "SELECT consumer, member, owner_epoch, offset FROM shares ORDER BY consumer, partition")
        while let row = try rows.next() {
            let member = (row[1] as String?).flatMap(UUID.init(uuidString:))
            shares[row[0], default: []].append(
                .init(member: member, ownerEpoch: Self.number(row, 2), offset: Self.number(row, 3)))
        }
        var progress: [String: [UInt64: UInt64]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT consumer, owner_epoch, offset FROM progress") {
            progress[row[0], default: [:]][Self.number(row, 1)] = Self.number(row, 2)
        }
        var producers: [String: [UUID: ProducerID]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT consumer, member, producer FROM members") {
            guard let member = UUID(uuidString: row[1]), let producer = ProducerID(stored: row[2]) else { continue }
            producers[row[0], default: [:]][member] = producer
        }
        var displaced: [String: [UUID]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT consumer, member FROM displaced ORDER BY rowid") {
            displaced[row[0], default: []] += [UUID(uuidString: row[1])].compactMap(\.self)
        }
        let cutOffs = try loadCutOffs(database)
        consumers = [:]
        for row in try Row.fetchAll(database, sql: "SELECT name, owner_epoch FROM consumers") {
            let name: String = row[0]
            guard let shares = shares[name], shares.count == Partition.count else { continue }
            let members = Set((producers[name] ?? [:]).keys)
            let group = ConsumerGroup(
                ownerEpoch: Self.number(row, 1), shares: shares, progress: progress[name] ?? [:], members: members,
                displaced: displaced[name] ?? [])
            consumers[name] = Consumer(
                group: group, producers: producers[name] ?? [:], cutOffs: cutOffs[name] ?? [])
        }
    }

    /// Writes what has changed. Only inside ``transaction(at:_:)``.
    func save(_ new: Consumer, as name: String, _ database: Database) throws {
        let old = consumers[name]
        consumers[name] = new
        if old?.group.ownerEpoch != new.group.ownerEpoch {
            try database.execute(
                sql: "INSERT OR REPLACE INTO consumers VALUES (?, ?)",
                arguments: [name, Int64(clamping: new.group.ownerEpoch)])
        }
        for (index, share) in new.group.shares.enumerated() where old?.group.shares[index] != share {
            try save(share, at: index, of: name, database)
        }
        for ownerEpoch in old?.group.progress.keys ?? [:].keys where new.group.progress[ownerEpoch] == nil {
            try database.execute(
                sql: "DELETE FROM progress WHERE consumer = ? AND owner_epoch = ?",
                arguments: [name, Int64(clamping: ownerEpoch)])
        }
        if old?.producers != new.producers {
            try database.execute(sql: "DELETE FROM members WHERE consumer = ?", arguments: [name])
            for (member, producer) in new.producers {
                try database.execute(
                    sql: "INSERT INTO members VALUES (?, ?, ?)", arguments: [name, member.uuidString, producer.stored])
            }
        }
        if (old?.group.displaced ?? []) != new.group.displaced {
            try database.execute(sql: "DELETE FROM displaced WHERE consumer = ?", arguments: [name])
            for member in new.group.displaced {
                try database.execute(
                    sql: "INSERT INTO displaced VALUES (?, ?)", arguments: [name, member.uuidString])
            }
        }
        if old?.cutOffs != new.cutOffs {
            try saveCutOffs(new.cutOffs, of: name, database)
        }
    }

    /// Removes all that is kept of a consumer, but its dead letters. Only inside ``transaction(at:_:)``.
    func remove(_ consumer: Consumer, named name: String, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM consumers WHERE name = ?", arguments: [name])
        for table in ["shares", "progress", "members", "displaced", "cut_offs"] {
            try database.execute(sql: "DELETE FROM \(table) WHERE consumer = ?", arguments: [name])
        }
        forgottenEpoch = max(forgottenEpoch, consumer.group.ownerEpoch)
        try database.execute(
            sql: "INSERT OR REPLACE INTO journal VALUES ('forgotten', ?)",
            arguments: [Int64(clamping: forgottenEpoch)])
        consumers[name] = nil
    }

    func save(_ share: ConsumerGroup.Share, at index: Int, of name: String, _ database: Database) throws {
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO shares VALUES (?, ?, ?, ?, ?)").execute(arguments: [
            name, index, share.member?.uuidString, Int64(clamping: share.ownerEpoch), Int64(clamping: share.offset),
        ])
    }

    static func number(_ row: Row, _ column: Int) -> UInt64 {
        UInt64(clamping: row[column] as Int64)
    }
}
