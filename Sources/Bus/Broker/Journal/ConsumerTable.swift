internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB
internal import Support

/// A durable consumer in the journal.
struct Consumer {
    var group = ConsumerGroup()
    /// The producers of the shared members, by member. The silence of a producer ends the membership.
    var producers: [UUID: ProducerID] = [:]
    var cutOffs = CutOffs()
    /// The user who has begun it; nil on a bus without keys.
    var publisher: String?
}

/// The durable consumers of the journal, with the owners of their partitions, their progress and their losses.
struct ConsumerTable {
    private(set) var rows: [String: Consumer] = [:]
    /// The highest owner generation of the consumers that were removed. Saved as the key `forgotten`.
    private var forgottenGeneration: UInt64 = 0
    private let saveProgress: RawStatement<ProgressParameter>

    private enum ProgressParameter: Int32, StatementParameter {
        case consumer = 1
        case generation, offset
    }

    init(_ database: Database) throws {
        saveProgress = try RawStatement(
            "INSERT OR REPLACE INTO progress VALUES (:consumer, :generation, :offset)", database)
    }

    mutating func load(forgottenGeneration: UInt64, _ database: Database) throws {
        self.forgottenGeneration = forgottenGeneration
        var shares: [String: [ConsumerGroup.Share]] = [:]
        let cursor = try Row.fetchCursor(
            database, sql: "SELECT consumer, member, owner_epoch, offset FROM shares ORDER BY consumer, partition")
        while let row = try cursor.next() {
            let member = try row.value("member", as: String?.self).flatMap(UUID.init(uuidString:))
            shares[try row.value("consumer"), default: []].append(
                .init(member: member, ownerGeneration: try row.number("owner_epoch"), offset: try row.number("offset")))
        }
        var progress: [String: [UInt64: UInt64]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT consumer, owner_epoch, offset FROM progress") {
            progress[try row.value("consumer"), default: [:]][try row.number("owner_epoch")] = try row.number("offset")
        }
        var producers: [String: [UUID: ProducerID]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT consumer, member, producer FROM members") {
            guard let member = UUID(uuidString: try row.value("member")),
                let producer = ProducerID(stored: try row.value("producer"))
            else { continue }
            producers[try row.value("consumer"), default: [:]][member] = producer
        }
        var displaced: [String: [UUID]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT consumer, member FROM displaced ORDER BY rowid") {
            let member = UUID(uuidString: try row.value("member"))
            displaced[try row.value("consumer"), default: []] += [member].compactMap(\.self)
        }
        let cutOffs = try Self.loadCutOffs(database)
        rows = [:]
        for row in try Row.fetchAll(database, sql: "SELECT name, owner_epoch, publisher FROM consumers") {
            let name: String = try row.value("name")
            guard let shares = shares[name], shares.count == Partition.count else { continue }
            let members = Set((producers[name] ?? [:]).keys)
            let group = ConsumerGroup(
                ownerGeneration: try row.number("owner_epoch"), shares: shares, progress: progress[name] ?? [:],
                members: members,
                displaced: displaced[name] ?? [])
            rows[name] = Consumer(
                group: group, producers: producers[name] ?? [:], cutOffs: CutOffs(cutOffs[name] ?? []),
                publisher: try row.value("publisher"))
        }
    }

    private static func loadCutOffs(_ database: Database) throws -> [String: [CutOffs.Entry]] {
        var cutOffs: [String: [CutOffs.Entry]] = [:]
        let sql = "SELECT consumer, type, owner_epoch, count, first, last FROM cut_offs"
        for row in try Row.fetchAll(database, sql: sql) {
            let (first, last): (UInt64, UInt64) = (try row.number("first"), try row.number("last"))
            guard let type = MessageType(try row.value("type", as: String.self)), first <= last else { continue }
            let cutOff = CutOff(type: type, count: try row.number("count"), offsets: first...last)
            let ownerGeneration: UInt64 = try row.number("owner_epoch")
            cutOffs[try row.value("consumer"), default: []].append(
                CutOffs.Entry(cutOff, stage: ownerGeneration > 0 ? ownerGeneration : nil))
        }
        return cutOffs
    }

    subscript(name: String) -> Consumer? { rows[name] }

    /// The offset up to which every consumer has handled all its messages; nil if there is no consumer.
    var position: UInt64? { rows.values.map(\.group.position).min() }

    /// Returns the consumer and the member's ownership after a claim, without changing the table.
    /// - Parameters:
    ///   - publisher: The user who claims; nil on a bus without keys.
    ///   - limit: The maximum number of consumers that a user may begin.
    /// - Throws: ``ProtocolError`` if the member was displaced, or if there are too many consumers or members.
    func claiming(
        _ request: ClaimRequest, by publisher: String?, limit: Int
    ) throws(ProtocolError) -> (consumer: Consumer, ownership: Ownership) {
        let known = rows[request.consumer]
        if known == nil, let publisher, case let own = rows.values.count(where: { $0.publisher == publisher }),
            own >= limit
        {
            throw ProtocolError(
                .tooLarge,
                "'\(publisher)' has begun \(own) durable consumers already; remove one with 'segue consumer forget'")
        }
        var consumer = known ?? Consumer(group: ConsumerGroup(after: forgottenGeneration), publisher: publisher)
        let ownership: Ownership
        do {
            (consumer.group, ownership) = try consumer.group.claimed(
                by: request.member, of: request.consumer, otherConsumers: known == nil ? rows.count : nil)
        } catch {
            throw ProtocolError(error)
        }
        consumer.producers = consumer.producers.filter { consumer.group.members.contains($0.key) }
        if request.member.mode == .shared {
            consumer.producers[request.member.id] = request.producer
        }
        consumer.cutOffs.report(under: ownership.ownerGeneration)
        return (consumer, ownership)
    }

    /// See ``CheckpointAdmission/isHandled(end:in:)``.
    func isHandled(_ checkpoint: CheckpointFrame, end: Position) throws(ProtocolError) -> Bool {
        do { return try checkpoint.admission.isHandled(end: end, in: rows[checkpoint.consumer]?.group) } catch {
            throw ProtocolError(error)
        }
    }

    /// Records progress that was checked.
    mutating func record(_ checkpoint: CheckpointFrame, in transaction: borrowing Journal.Transaction) throws {
        let (name, owner) = (checkpoint.consumer, checkpoint.ownerGeneration)
        guard rows[name]?.group.record(checkpoint.admission) == true, let group = rows[name]?.group,
            let offset = group.progress[owner]
        else { return }
        try Array(name.utf8).withUnsafeBytes { name in
            saveProgress.bind(text: name, to: .consumer)
            saveProgress.bind(Int64(clamping: owner), to: .generation)
            saveProgress.bind(Int64(clamping: offset), to: .offset)
            try saveProgress.run()
        }
        if let partition = checkpoint.partition, offset < checkpoint.offset {
            let share = group.shares[Int(partition.number)]
            try save(share, at: Int(partition.number), of: name, in: transaction)
        }
        guard rows[name]?.cutOffs.entries.contains(where: { $0.stage == owner }) == true else { return }
        rows[name]?.cutOffs.confirm { $0 == owner }
        try transaction.database.execute(
            sql: "DELETE FROM cut_offs WHERE consumer = :consumer AND owner_epoch = :generation",
            arguments: ["consumer": name, "generation": Int64(clamping: owner)])
    }

    /// Removes the members of a producer from all consumers.
    mutating func leave(_ producer: ProducerID, in transaction: borrowing Journal.Transaction) throws {
        for (name, consumer) in rows {
            try leave(consumer.producers.filter { $0.value == producer }.map(\.key), of: name, in: transaction)
        }
    }

    /// Removes members from one consumer.
    mutating func leave(_ members: [UUID], of name: String, in transaction: borrowing Journal.Transaction) throws {
        guard var consumer = rows[name], members.contains(where: consumer.group.members.contains) else { return }
        for member in members {
            consumer.group.leave(member)
            consumer.producers[member] = nil
        }
        try save(consumer, as: name, in: transaction)
    }

    /// Replaces a consumer and writes the rows that have changed.
    mutating func save(
        _ new: Consumer, as name: String, in transaction: borrowing Journal.Transaction
    ) throws {
        let database = transaction.database
        let old = rows[name]
        rows[name] = new
        if old?.group.ownerGeneration != new.group.ownerGeneration {
            try database.execute(
                sql: "INSERT OR REPLACE INTO consumers VALUES (:name, :generation, :publisher)",
                arguments: [
                    "name": name, "generation": Int64(clamping: new.group.ownerGeneration), "publisher": new.publisher,
                ])
        }
        for (index, share) in new.group.shares.enumerated() where old?.group.shares[index] != share {
            try save(share, at: index, of: name, in: transaction)
        }
        for ownerGeneration in old?.group.progress.keys ?? [:].keys where new.group.progress[ownerGeneration] == nil {
            try database.execute(
                sql: "DELETE FROM progress WHERE consumer = :consumer AND owner_epoch = :generation",
                arguments: ["consumer": name, "generation": Int64(clamping: ownerGeneration)])
        }
        if old?.producers != new.producers {
            try delete(from: "members", of: name, database)
            for (member, producer) in new.producers {
                try database.execute(
                    sql: "INSERT INTO members VALUES (:consumer, :member, :producer)",
                    arguments: ["consumer": name, "member": member.uuidString, "producer": producer.stored])
            }
        }
        if (old?.group.displaced ?? []) != new.group.displaced {
            try delete(from: "displaced", of: name, database)
            for member in new.group.displaced {
                try database.execute(
                    sql: "INSERT INTO displaced VALUES (:consumer, :member)",
                    arguments: ["consumer": name, "member": member.uuidString])
            }
        }
        if old?.cutOffs != new.cutOffs {
            try save(new.cutOffs, of: name, in: transaction)
        }
    }

    private func save(
        _ share: ConsumerGroup.Share, at index: Int, of name: String, in transaction: borrowing Journal.Transaction
    ) throws {
        let statement = try transaction.database.cachedStatement(
            sql: "INSERT OR REPLACE INTO shares VALUES (:consumer, :partition, :member, :generation, :offset)")
        try statement.execute(arguments: [
            "consumer": name, "partition": index, "member": share.member?.uuidString,
            "generation": Int64(clamping: share.ownerGeneration), "offset": Int64(clamping: share.offset),
        ])
    }

    private func save(
        _ cutOffs: CutOffs, of name: String, in transaction: borrowing Journal.Transaction
    ) throws {
        try delete(from: "cut_offs", of: name, transaction.database)
        for entry in cutOffs.entries {
            try transaction.database.execute(
                sql: "INSERT INTO cut_offs VALUES (:consumer, :type, :generation, :count, :first, :last)",
                arguments: [
                    "consumer": name, "type": entry.cutOff.type.description,
                    "generation": Int64(clamping: entry.stage ?? 0), "count": entry.cutOff.count,
                    "first": Int64(clamping: entry.cutOff.offsets.lowerBound),
                    "last": Int64(clamping: entry.cutOff.offsets.upperBound),
                ])
        }
    }

    /// Removes a consumer, except its dead letters.
    mutating func remove(_ name: String, in transaction: borrowing Journal.Transaction) throws {
        guard let consumer = rows.removeValue(forKey: name) else { return }
        let database = transaction.database
        try database.execute(sql: "DELETE FROM consumers WHERE name = :name", arguments: ["name": name])
        for table in ["shares", "progress", "members", "displaced", "cut_offs"] {
            try delete(from: table, of: name, database)
        }
        forgottenGeneration = max(forgottenGeneration, consumer.group.ownerGeneration)
        try database.execute(
            sql: "INSERT OR REPLACE INTO journal VALUES ('forgotten', :generation)",
            arguments: ["generation": Int64(clamping: forgottenGeneration)])
    }

    /// Deletes the rows of a consumer.
    private func delete(from table: String, of consumer: String, _ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM \(table) WHERE consumer = :consumer", arguments: ["consumer": consumer])
    }
}
