internal import BusFormat
internal import EventBus
internal import NATSLayout

/// The durable consumers of the journal, as tools list and remove them.
struct ConsumerDirectory: Sendable {
    let records: ConsumerRecords

    private var journal: JournalConnection { records.journal }

    /// See ``BusInspection/consumers()``.
    func consumers() async throws -> [DurableConsumer] {
        let epochs = try await journal.identity().epochs
        let epoch = epochs.current
        let groups = try await records.groups(in: epochs)
        var consumers: [DurableConsumer] = []
        for (name, group) in groups.sorted(by: { $0.key < $1.key }) {
            let handled = try await records.progress(of: name, group, in: epochs)
            let position = zip(Partition.all, group.shares)
                .map { handled.handled($0, ownerGeneration: $1.ownerGeneration) }.min()
            let end = StreamPosition.end(of: try await journal.lastBatch())
            consumers.append(
                DurableConsumer(
                    name: name, position: Position(epoch: epoch, offset: position ?? 0),
                    end: Position(epoch: epoch, offset: end), memberCount: group.members.count))
        }
        return consumers
    }

    /// See ``BusInspection/forget(consumer:)``.
    func forget(consumer: String) async throws {
        let epochs = try await journal.identity().epochs
        while case let last = try await records.groupRecord(of: consumer, in: epochs), last.sequence > 0 {
            if let record = last.value, !record.exists {
                try await records.writeRemovals(of: consumer, through: last.group(in: epochs).ownerGeneration)
                break
            }
            let group = last.group(in: epochs)
            let ownerGeneration =
                last.damage == nil
                ? group.ownerGeneration : try await records.highestOwnerGeneration(of: consumer, in: epochs)
            var owner = OwnerLiveness.ended
            if let member = group.exclusiveOwner, try await AliveAnswers.isAlive(member, in: journal) { owner = .alive }
            do { try group.requireUnused(consumer, owner: owner) } catch { throw BusError(error) }
            let removal = GroupRecord(removedAfter: ownerGeneration + 1)
            _ = try await journal.write(removal, .group(consumer: consumer), after: last.sequence)
        }
    }
}
