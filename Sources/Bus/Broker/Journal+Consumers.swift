internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB

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
