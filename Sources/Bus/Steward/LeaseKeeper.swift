internal import BusFormat
internal import EventBus
internal import Foundation
internal import Logging
internal import NATS
internal import NATSJournal
internal import NATSLayout

/// Receives the heartbeats of all clients. A client that is silent for longer than a lease loses its memberships of
/// durable consumers and its leased documents.
///
/// Every write is conditional on the record that it replaces, so it cannot undo a change of a returning client or
/// another steward.
actor LeaseKeeper {
    private struct Lease {
        let state: LeaseState
        let sequence: Int
    }

    private static let interval = Duration.milliseconds(200)

    private let jetStream: JetStream
    private let names: StreamNames
    private let epochs: JournalEpochs
    private let source: String
    private let projection: Projection
    private let notices: StewardNotices
    private let records: RecordStore
    private let logger: Logger
    /// True if an invalid heartbeat was logged.
    private var hasLoggedInvalid = false
    private var presence: LiveClients
    private var connection: Int
    /// The leases that are held or revoked.
    private var leases: [ProducerID: Lease] = [:]
    /// The members of each durable consumer, exclusive ones included.
    private var members: [String: Set<UUID>] = [:]
    /// The sequence of the record from which the members of a consumer are known.
    private var groupSequences: [String: Int] = [:]
    /// The durable consumers whose fences have to be checked.
    private var unchecked: Set<String> = []
    /// True when all records have come that existed at the beginning.
    private var isComplete = false
    /// The end of the journal that clients have seen in this epoch.
    private var known = KnownEnd()

    /// - Parameter source: The CloudEvents source of the messages that withdraw documents.
    init(
        _ jetStream: JetStream, names: StreamNames, epochs: JournalEpochs, source: String, projection: Projection,
        notices: StewardNotices, logger: Logger, at now: ContinuousClock.Instant = .now
    ) {
        self.jetStream = jetStream
        self.names = names
        self.epochs = epochs
        self.source = source
        self.projection = projection
        self.notices = notices
        records = RecordStore(jetStream, names, reporting: notices.report)
        self.logger = logger
        presence = LiveClients(at: now)
        connection = jetStream.connection.connectionCount
    }

    func run() async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await self.receiveHeartbeats() }
            group.addTask { try await self.followRecords() }
            group.addTask { try await self.expire() }
            group.addTask { try await self.rereadGroups() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    // MARK: Heartbeats

    private func receiveHeartbeats() async throws {
        let subject = BusSubject.heartbeat.text(in: names.namespace)
        try await jetStream.connection.withSubscription(to: subject) { subscription in
            while true {
                switch try await subscription.next() {
                case .message(let message): await handle(message)
                // Some heartbeats are missing, of unknown clients.
                case .lost: presence.beginAnew(at: .now)
                }
            }
        }
    }

    private func handle(_ message: NATSMessage) async {
        let heartbeat: Heartbeat
        do {
            heartbeat = try Heartbeat(json: message.body)
        } catch {
            // Any process with the right to publish to the subject can send anything.
            if !hasLoggedInvalid {
                logger.warning(
                    "a heartbeat cannot be read, so its process counts as silent; later ones are not logged",
                    metadata: ["error": "\(error)"])
            }
            hasLoggedInvalid = true
            return
        }
        for member in presence.handle(heartbeat, at: .now) {
            notices.post(.consumerStalled, "the durable consumer '\(member.consumer)' \(member.problem ?? "")")
        }
        known.record(heartbeat, in: epochs)
        let reply = HeartbeatReply(epoch: epochs.current, watermark: await projection.watermark)
        // Without a connection the client asks again.
        if let subject = message.reply, let body = try? reply.json() {
            try? jetStream.connection.publish(subject, body: body)
        }
    }

    /// The end of the journal in this epoch.
    var knownEnd: KnownEnd {
        get async {
            var known = known
            if let last = await projection.last { known.record(last) }
            return known
        }
    }

    // MARK: Records

    private func followRecords() async throws {
        let settings = ConsumerSettings(filters: [names.leases, names.groups], start: .lastPerSubject)
        try await jetStream.follow(names.journal, settings) { delivered in
            guard let delivered else {
                isComplete = true
                return
            }
            apply(delivered)
        }
    }

    private func apply(_ delivered: DeliveredMessage) {
        do {
            switch BusSubject(delivered.subject, in: names.namespace) {
            case .lease(let producer):
                // Documents may be leased under a damaged record. They are withdrawn if their producer is silent.
                let state = try records.record(LeaseRecord.self, of: delivered).value?.state ?? .held
                guard leases[producer].map({ $0.sequence < delivered.streamSequence }) ?? true else { return }
                leases[producer] =
                    state == .withdrawn ? nil : Lease(state: state, sequence: delivered.streamSequence)
            case .group(let consumer):
                // The next claim replaces a damaged record.
                let group = try records.record(GroupRecord.self, of: delivered).value?
                    .existing(in: epochs, at: UInt64(delivered.streamSequence))
                members[consumer] = group?.everyMember
                groupSequences[consumer] = delivered.streamSequence
                if !isComplete, group != nil { unchecked.insert(consumer) }
            default: break
            }
        } catch {
            logger.error(
                "a record of the bus cannot be read and is ignored",
                metadata: ["subject": "\(delivered.subject)", "error": "\(error)"])
        }
    }

    /// Reads all groups from time to time. A server that has lost the newest record of a group, and leads now, shows an
    /// older one, which ``followRecords()`` has passed. Its members may have ended long ago.
    private func rereadGroups() async throws {
        while true {
            try await Task.sleep(for: ListeningPeriod.lease)
            let before = groupSequences
            var groups: [(consumer: String, members: Set<UUID>?, sequence: Int)] = []
            let (names, epochs, records) = (names, epochs, records)
            let settings = ConsumerSettings(filters: [names.groups], start: .lastPerSubject)
            try await jetStream.readAll(of: names.journal, settings) { delivered in
                guard case .group(let consumer) = BusSubject(delivered.subject, in: names.namespace),
                    let record = try? records.record(GroupRecord.self, of: delivered)
                else { return }
                let group = record.value?.existing(in: epochs, at: UInt64(delivered.streamSequence))
                groups.append((consumer, group?.everyMember, delivered.streamSequence))
            }
            // What has come meanwhile may be newer.
            for (consumer, members, sequence) in groups where groupSequences[consumer] == before[consumer] {
                self.members[consumer] = members
                groupSequences[consumer] = sequence
            }
        }
    }

    // MARK: Expiry

    private func expire() async throws {
        while true {
            try await Task.sleep(for: Self.interval)
            let state = jetStream.connection.current
            guard case .connected = state, connection == jetStream.connection.connectionCount else {
                connection = jetStream.connection.connectionCount
                presence.beginAnew(at: .now)
                continue
            }
            guard isComplete else { continue }
            // While no server answers, heartbeats are missing too. The connection may exist nevertheless: the servers
            // may be stopped. The time until the answer shows in the next check.
            _ = try await jetStream.last(BusSubject.steward.text(in: names.namespace), of: names.journal)
            try await check()
        }
    }

    private func check() async throws {
        for consumer in unchecked.sorted() {
            try await tolerating(consumer) { try await replaceLeftFences(of: consumer) }
            unchecked.remove(consumer)
        }
        let holders = Set(leases.filter { $0.value.state == .held }.keys)
        let owners = Set(members.flatMap { name, ids in ids.map { LiveClients.Member(consumer: name, id: $0) } })
        let silent = presence.check(holders: holders, owners: owners, at: .now)
        // First the memberships: a leased batch under a claim expects only the fence of its partition. After the fences
        // are replaced, no such batch can come after the withdrawal.
        for (consumer, silent) in Dictionary(grouping: silent.members, by: \.consumer) {
            let ids = Set(silent.map(\.id))
            try await tolerating(consumer) { try await expel(ids, from: consumer) }
            members[consumer]?.subtract(ids)
        }
        for producer in silent.producers { try await revoke(producer) }
        for (producer, lease) in leases where lease.state == .revoked {
            // Until then a leased document may be missing in the projection.
            guard await projection.stored >= UInt64(lease.sequence) else { continue }
            try await withdraw(producer, lease.sequence)
        }
    }

    /// Does something with the records of a consumer. A record that a newer program has written must not stop the work
    /// for other consumers.
    private func tolerating(_ consumer: String, _ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let error as ProtocolError {
            logger.error(
                "the records of a durable consumer cannot be read",
                metadata: ["consumer": "\(consumer)", "error": "\(error)"])
        }
    }

    // MARK: Leases

    private func revoke(_ producer: ProducerID) async throws {
        guard let lease = leases[producer], lease.state == .held else { return }
        let sequence = try await records.replace(
            UInt64(lease.sequence), by: LeaseRecord(.revoked), at: .lease(producer)
        ).map { Int(clamping: $0) }
        // If the record has changed meanwhile, its change is on its way here.
        guard let sequence, leases[producer].map({ $0.sequence < sequence }) ?? true else { return }
        logger.info("a client is silent; its leased documents are withdrawn", metadata: ["client": "\(producer.uuid)"])
        leases[producer] = Lease(state: .revoked, sequence: sequence)
    }

    /// The number of documents that one batch withdraws. A withdrawal has at most 6 KiB, so the batch fits into every
    /// `max_payload` with which a server is used.
    private static let withdrawalCount = 32

    /// Withdraws the documents of a producer whose lease is revoked.
    private func withdraw(_ producer: ProducerID, _ revocation: Int) async throws {
        let subject = BusSubject.lease(producer).text(in: names.namespace)
        var rest = Array(await projection.documents(leasedBy: producer))
        while !rest.isEmpty {
            let part = rest.suffix(Self.withdrawalCount)
            rest.removeLast(part.count)
            // The id without a part says that everything is withdrawn. The others are random: two stewards may divide
            // the documents differently.
            let id = BatchID.withdrawal(
                producer, sequence: UInt64(revocation), part: rest.isEmpty ? nil : UUID())
            guard
                try await publish(
                    part.map { .withdrawal(of: $0, source: source) }, expecting: LastSequence(revocation, of: subject),
                    id: id)
            else {
                // Another steward, or the producer, has completed it.
                return
            }
        }
        let stored = try await records.replace(
            UInt64(revocation), by: LeaseRecord(.withdrawn), at: .lease(producer))
        if let stored, leases[producer]?.sequence ?? 0 < stored { leases[producer] = nil }
    }

    /// - Returns: False if the condition does not hold.
    private func publish(_ messages: [Envelope], expecting last: LastSequence, id: BatchID) async throws
        -> Bool
    {
        let publication = try Publication(Batch(messages))
        let headers = BatchHeaders(id: id.description, count: publication.count)
        let sequence = try await jetStream.publishIf(
            publication.subject.text(in: names.namespace), headers: NATSHeaders(headers.fields),
            body: publication.body, last: last)
        return sequence != nil
    }

    // MARK: Memberships

    /// Removes silent members from a durable consumer, and fences what they may still publish.
    private func expel(_ silent: Set<UUID>, from consumer: String) async throws {
        while true {
            guard let (group, sequence) = try await group(of: consumer), let (next, freed) = group.expelling(silent)
            else { return }
            guard try await replace(sequence, by: next, of: consumer) else { continue }
            logger.info(
                "a silent member of a durable consumer is removed",
                metadata: ["consumer": "\(consumer)", "partitions": "\(freed.count)"])
            try await replaceFences(freed, of: consumer, under: next.ownerGeneration) { _ in true }
            return
        }
    }

    /// Completes what an earlier steward has left: it had removed members, and had not replaced all their fences.
    private func replaceLeftFences(of consumer: String) async throws {
        while true {
            guard let (group, sequence) = try await group(of: consumer) else { return }
            let free = Partition.all.filter { group.shares[Int($0.number)].ownerGeneration == 0 }
            guard !free.isEmpty else { return }
            // The last owner generation may be that of a member that has claimed meanwhile. Under it, the progress of
            // this member would count for the free partitions, too.
            let next = group.reservingOwnerGeneration
            guard try await replace(sequence, by: next, of: consumer) else { continue }
            return try await replaceFences(free, of: consumer, under: next.ownerGeneration) {
                $0.member != FenceRecord.nobody
            }
        }
    }

    /// The group of a consumer with the sequence of its record. Nil if the consumer was removed, or there is no valid
    /// record.
    private func group(of consumer: String) async throws -> (group: ConsumerGroup, sequence: UInt64)? {
        let last = try await records.last(GroupRecord.self, .group(consumer: consumer), of: names.journal)
        return last.value?.existing(in: epochs, at: last.sequence).map { ($0, last.sequence) }
    }

    /// - Returns: False if the record was replaced before.
    private func replace(_ sequence: UInt64, by group: ConsumerGroup, of consumer: String) async throws -> Bool {
        let record = GroupRecord(group, epoch: epochs.current)
        return try await records.replace(sequence, by: record, at: .group(consumer: consumer)) != nil
    }

    private func replaceFences(
        _ partitions: [Partition], of consumer: String, under ownerGeneration: UInt64,
        where isWanted: @escaping @Sendable (FenceRecord) -> Bool
    ) async throws {
        try await withThrowingTaskGroup { group in
            for partition in partitions {
                group.addTask {
                    try await self.replaceFence(
                        ConsumerPartition(consumer, partition), under: ownerGeneration, where: isWanted)
                }
            }
            try await group.waitForAll()
        }
    }

    private func replaceFence(
        _ owner: ConsumerPartition, under ownerGeneration: UInt64, where isWanted: @Sendable (FenceRecord) -> Bool
    ) async throws {
        let last = try await records.last(FenceRecord.self, .fence(owner))
        guard last.sequence > 0 else { return }
        // A later claim may have fenced the partition itself.
        _ = try await records.raiseFence(
            of: owner, to: ownerGeneration, member: FenceRecord.nobody, after: last, where: isWanted)
    }
}
