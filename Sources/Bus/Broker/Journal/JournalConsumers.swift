internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

/// A durable consumer as the journal keeps it.
struct Consumer {
    /// A journal has no more of them: each takes 64 rows, and holds retention up.
    static let capacity = 4096
    /// Members that share one consumer: four for each partition, of which all but 64 wait for one that leaves.
    static let memberCapacity = 256

    var group = ConsumerGroup()
    /// Whose silence ends the membership of those that share.
    var producers: [UUID: ProducerID] = [:]
    var cutOffs: [CutOffRow] = []

    /// Adds to what no claim has been told of yet.
    mutating func add(_ cutOff: CutOff) {
        if let index = cutOffs.firstIndex(where: { $0.ownerEpoch == 0 && $0.cutOff.type == cutOff.type }) {
            cutOffs[index] = CutOffRow(cutOff: cutOffs[index].cutOff.merged(with: cutOff), ownerEpoch: 0)
        } else {
            cutOffs.append(CutOffRow(cutOff: cutOff, ownerEpoch: 0))
        }
    }
}

/// What retention took away before a consumer had handled it, and whether the consumer knows.
struct CutOffRow: Equatable {
    let cutOff: CutOff
    /// Of the claim that was told; 0 for none yet.
    let ownerEpoch: UInt64
}

extension Journal {
    /// Gives a member of a durable consumer what is its own, and tells it what retention took away.
    func claim(_ request: ClaimRequest, at time: Int64) throws -> Claimed {
        let known = consumers[request.consumer]
        var consumer = known ?? Consumer(group: ConsumerGroup(after: forgottenEpoch))
        switch request.purpose {
        case .claim: break
        case .renewal: return claimed(consumer.group.ownership(of: request.member.id), cutOffs: [])
        case .leave:
            try transaction(at: time) { try leave([request.member.id], of: request.consumer, $0) }
            return claimed(Ownership(ownerEpoch: 0, offsets: [:]), cutOffs: [])
        }
        guard known != nil || consumers.count < Consumer.capacity else {
            throw ProtocolError(.tooLarge, "the journal has \(consumers.count) durable consumers already")
        }
        guard !consumer.group.isDisplaced(request.member) else {
            throw ProtocolError(.fenced, "another process has taken \(request.consumer) over")
        }
        let members = consumer.group.members
        guard
            request.member.mode == .exclusive || members.contains(request.member.id)
                || members.count < Consumer.memberCapacity
        else {
            throw ProtocolError(
                .tooLarge,
                "\(members.count) members share the durable consumer '\(request.consumer)' already; "
                    + "let one of them leave first")
        }
        let ownership = consumer.group.claim(request.member)
        consumer.producers = consumer.producers.filter { consumer.group.members.contains($0.key) }
        if request.member.mode == .shared {
            consumer.producers[request.member.id] = request.producer
        }
        // Whoever claims last is told of everything, also of what an earlier claim was told and never confirmed.
        consumer.cutOffs = consumer.cutOffs.map(\.cutOff).merged.map {
            CutOffRow(cutOff: $0, ownerEpoch: ownership.ownerEpoch)
        }
        try transaction(at: time) { try save(consumer, as: request.consumer, $0) }
        return claimed(ownership, cutOffs: consumer.cutOffs.map(\.cutOff))
    }

    /// The durable consumers, in alphabetical order.
    var consumerList: ConsumerList {
        ConsumerList(
            epoch: epoch, head: head,
            consumers: consumers.sorted { $0.key < $1.key }.map { name, consumer in
                ConsumerList.Entry(
                    name: name, position: consumer.group.position,
                    memberCount: UInt16(clamping: consumer.group.members.count))
            })
    }

    /// Removes a durable consumer; its dead letters stay.
    /// - Throws: ``ProtocolError`` with code `malformed` while members share it.
    func forget(_ name: String, at time: Int64) throws {
        guard let consumer = consumers[name] else { return }
        guard consumer.group.members.isEmpty else {
            throw ProtocolError(.malformed, "processes share the durable consumer '\(name)'; stop them first")
        }
        try transaction(at: time) { try remove(consumer, named: name, $0) }
    }

    /// Takes the members out that belong to a producer. Only inside ``transaction(at:_:)``.
    func leave(_ producer: ProducerID, _ database: Database) throws {
        for (name, consumer) in consumers {
            try leave(consumer.producers.filter { $0.value == producer }.map(\.key), of: name, database)
        }
    }

    private func leave(_ members: [UUID], of name: String, _ database: Database) throws {
        guard var consumer = consumers[name], members.contains(where: consumer.group.members.contains) else { return }
        for member in members {
            consumer.group.leave(member)
            consumer.producers[member] = nil
        }
        try save(consumer, as: name, database)
    }

    /// - Returns: whether the message of the checkpoint has been handled: this is a copy of the batch that said so, which was
    ///   sent on after its publisher had been told that the journal could not take it.
    /// - Throws: ``ProtocolError`` with code `epoch`, `fenced` or `unrecorded`, in this order, when progress cannot be
    ///   recorded.
    func check(_ checkpoint: CheckpointFrame?) throws -> Bool {
        guard let checkpoint else { return false }
        // An offset that this journal has never given shows that it has lost its end: a hello will find that out.
        guard checkpoint.epoch == epoch, checkpoint.offset <= head, checkpoint.settled <= head else {
            throw ProtocolError(.epoch, "the checkpoint of \(checkpoint.consumer) is for another journal")
        }
        guard let group = consumers[checkpoint.consumer]?.group,
            group.isOwned(checkpoint.partition, under: checkpoint.ownerEpoch)
        else {
            throw ProtocolError(.fenced, "another process has taken \(checkpoint.consumer) over")
        }
        guard let partition = checkpoint.partition else { return false }
        let handled = group.handled(partition)
        if handled >= checkpoint.offset { return true }
        // The batch before was refused: with this one its message would count as handled.
        if let previous = checkpoint.previous, handled < previous {
            throw ProtocolError(.unrecorded, "the checkpoint before, at offset \(previous), is not recorded")
        }
        return false
    }

    /// Records progress that has been checked. It takes one row, unless a message came before an earlier one of another
    /// partition. Only inside ``transaction(at:_:)``.
    func save(_ checkpoint: CheckpointFrame, _ database: Database) throws {
        let (name, owner) = (checkpoint.consumer, checkpoint.ownerEpoch)
        _ = consumers[name]?.group.record(
            checkpoint.offset, partition: checkpoint.partition, settled: checkpoint.settled, ownerEpoch: owner)
        guard let group = consumers[name]?.group, let offset = group.progress[owner] else { return }
        try Array(name.utf8).withUnsafeBytes { name in
            statements.saveProgress.bind(text: name, at: 1)
            statements.saveProgress.bind(Int64(clamping: owner), at: 2)
            statements.saveProgress.bind(Int64(clamping: offset), at: 3)
            try statements.saveProgress.run()
        }
        if let partition = checkpoint.partition, offset < checkpoint.offset {
            let share = group.shares[Int(partition.number)]
            try save(share, at: Int(partition.number), of: name, database)
        }
        guard consumers[name]?.cutOffs.contains(where: { $0.ownerEpoch == owner }) == true else { return }
        consumers[name]?.cutOffs.removeAll { $0.ownerEpoch == owner }
        try database.execute(
            sql: "DELETE FROM cut_offs WHERE consumer = ? AND owner_epoch = ?",
            arguments: [name, Int64(clamping: owner)])
    }

    private func claimed(_ ownership: Ownership, cutOffs: [CutOff]) -> Claimed {
        Claimed(ownerEpoch: ownership.ownerEpoch, epoch: epoch, offsets: ownership.offsets, cutOffs: cutOffs)
    }
}

extension [CutOff] {
    /// One a type.
    fileprivate var merged: [CutOff] {
        Dictionary(grouping: self, by: \.type).values
            .compactMap { same in same.dropFirst().reduce(same.first) { $0?.merged(with: $1) } }
            .sorted { $0.offsets.lowerBound < $1.offsets.lowerBound }
    }
}

extension CutOff {
    func merged(with other: CutOff) -> CutOff {
        let first = Swift.min(offsets.lowerBound, other.offsets.lowerBound)
        let last = Swift.max(offsets.upperBound, other.offsets.upperBound)
        return CutOff(type: type, count: count + other.count, offsets: first...last)
    }
}

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

extension Journal {
    func loadCutOffs(_ database: Database) throws -> [String: [CutOffRow]] {
        var cutOffs: [String: [CutOffRow]] = [:]
        let sql = "SELECT consumer, type, owner_epoch, count, first, last FROM cut_offs"
        for row in try Row.fetchAll(database, sql: sql) {
            let (first, last) = (Self.number(row, 4), Self.number(row, 5))
            guard let type = MessageType(row[1] as String), first <= last else { continue }
            let cutOff = CutOff(type: type, count: row[3], offsets: first...last)
            cutOffs[row[0], default: []].append(CutOffRow(cutOff: cutOff, ownerEpoch: Self.number(row, 2)))
        }
        return cutOffs
    }

    /// Only inside ``transaction(at:_:)``.
    func saveCutOffs(_ rows: [CutOffRow], of consumer: String, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM cut_offs WHERE consumer = ?", arguments: [consumer])
        for row in rows {
            try database.execute(
                sql: "INSERT INTO cut_offs VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    consumer, row.cutOff.type.description, Int64(clamping: row.ownerEpoch), row.cutOff.count,
                    Int64(clamping: row.cutOff.offsets.lowerBound), Int64(clamping: row.cutOff.offsets.upperBound),
                ])
        }
    }
}
