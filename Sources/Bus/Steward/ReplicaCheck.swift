internal import EventBus
internal import Logging
internal import NATS
internal import NATSJournal
internal import NATSLayout

/// Compares what the servers have of each stream, and the journal with its inventories.
///
/// A server whose disk was damaged removes the messages that it cannot read, without an error. A server that was away
/// while the others lost the end of a stream keeps its own. Every message of each stream is therefore read from every
/// server, without its body, as often as ``CheckSchedule`` says.
struct ReplicaCheck: Sendable {
    private static let poll = Duration.seconds(1)
    /// The pause after a check that has failed, for example because a server is away.
    private static let retry = Duration.seconds(3)...Duration.seconds(15)
    /// The time after which a difference is checked again: a message may be new, or just being removed, and a server
    /// may be a little behind.
    private static let patience = Duration.seconds(10)
    /// The number of messages after which the check pauses, and the pause. A check should not slow down anything else.
    private static let portion = 2000
    private static let pause = Duration.milliseconds(100)

    /// What a check of a stream has found.
    private struct Result {
        var differences = ReplicaDifferences()
        /// The servers that store the stream.
        let members: Set<String>
        /// Those that were read.
        let read: Set<String>
    }

    /// What was seen of the servers since the steward leads.
    private struct Watch {
        var lagging = LaggingServers()
        /// The last known run of each server.
        var runs: [String: String] = [:]
        /// False if the user may not request the servers' runs.
        var mayAskForRuns = true
    }

    private let jetStream: JetStream
    private let names: StreamNames
    private let epoch: UInt64
    private let notices: StewardNotices
    private let logger: Logger
    /// The index of the leader among the sources of a comparison.
    private static let leader = 0

    init(_ jetStream: JetStream, names: StreamNames, epoch: UInt64, notices: StewardNotices, logger: Logger) {
        self.jetStream = jetStream
        self.names = names
        self.epoch = epoch
        self.notices = notices
        self.logger = logger
    }

    func run() async throws {
        var known: [String: ReplicaDifferences] = [:]
        var watch = Watch()
        while true {
            let start = ContinuousClock.now
            let runs = try await checkServers(&watch)
            var results: [Result] = []
            for stream in names.all {
                guard let result = try await check(stream) else { continue }
                let found = result.differences.keeping(known[stream], of: result.members.subtracting(result.read))
                if found != known[stream] { try await report(found, in: stream, after: known[stream]) }
                known[stream] = found
                results.append(result)
            }
            guard results.count == names.all.count else {
                let rest = CheckSchedule.rest(after: ContinuousClock.now - start)
                let end = ContinuousClock.now + min(max(rest, Self.retry.lowerBound), Self.retry.upperBound)
                repeat {
                    try await Task.sleep(for: Self.poll)
                    _ = try await checkServers(&watch)
                } while ContinuousClock.now < end
                continue
            }
            let checked = runs.filter { server, _ in
                results.allSatisfy { $0.read.contains(server) || !$0.members.contains(server) }
            }
            if checked.count > 1, results.allSatisfy({ $0.differences == ReplicaDifferences() }) {
                logger.info(
                    "the servers have the same messages",
                    metadata: ["servers": "\(checked.keys.sorted().joined(separator: ","))"])
            }
            var schedule = CheckSchedule(afterCheckOf: checked, from: start, to: .now)
            repeat {
                try await Task.sleep(for: Self.poll)
            } while try await !schedule.isDue(checkServers(&watch), at: .now)
        }
    }

    /// Reports the servers that do not catch up.
    /// - Returns: The servers that can be read now, with their runs, as ``CheckSchedule`` uses them.
    private func checkServers(_ watch: inout Watch) async throws -> [String: String] {
        var (present, away) = (Set<String>(), Set<String>())
        for stream in names.all {
            let info = try await jetStream.retrying { try await jetStream.stream(stream) }
            present.insert(info.leader ?? "")
            for follower in info.followers {
                if follower.isClose { present.insert(follower.name) } else { away.insert(follower.name) }
            }
            if stream == names.journal { try await reportLate(among: info, &watch.lagging) }
        }
        present.subtract(away)
        try await recordRuns(of: present, &watch)
        return Dictionary(uniqueKeysWithValues: present.map { ($0, watch.runs[$0] ?? "") })
    }

    private func reportLate(among info: StreamInfo, _ lagging: inout LaggingServers) async throws {
        for server in lagging.late(among: info.followers, end: info.lastSequence, at: .now) {
            try await notices.say(
                .incompleteReplica,
                "server \(server) has not come nearer to the leader of \(names.journal) for "
                    + "\(LaggingServers.patience.components.seconds) s. If its log says 'will retry' again and again, "
                    + Self.repair(server))
        }
    }

    private func recordRuns(of servers: Set<String>, _ watch: inout Watch) async throws {
        guard jetStream.connection.isClustered else {
            // A server on its own was started again if the connection to it was lost.
            for server in servers { watch.runs[server] = "connection \(jetStream.connection.connectionCount)" }
            return
        }
        guard watch.mayAskForRuns else { return }
        do {
            let runs = try await jetStream.retrying {
                try await jetStream.connection.serverRuns(including: servers)
            }
            watch.runs.merge(runs) { $1 }
        } catch let error as NATSError where error.code == .denied {
            watch.mayAskForRuns = false
            logger.warning("\(error); a server that starts again within 3 s is compared only some minutes later")
        }
    }

    // MARK: Comparing

    /// - Returns: Nil if they could not be found now.
    private func check(_ stream: String) async throws -> Result? {
        do {
            let first = try await compare(stream)
            guard first.differences != ReplicaDifferences() else { return first }
            if first.differences.diverged.isEmpty { try await Task.sleep(for: Self.patience) }
            let second = try await compare(stream)
            return Result(
                differences: first.differences.confirmed(by: second.differences),
                members: first.members.union(second.members), read: first.read.intersection(second.read))
        } catch let error where error.passes {
            logger.info(
                "the servers could not be compared", metadata: ["stream": "\(stream)", "error": "\(error)"])
            return nil
        }
    }

    /// - Throws: ``NATSError`` or ``JetStreamError`` if the servers could not be compared.
    private func compare(_ stream: String) async throws -> Result {
        let info = try await jetStream.stream(stream)
        let followers = info.followers.filter(\.isClose)
        let servers = [info.leader ?? ""] + followers.map(\.name)
        let members = Set(servers + info.followers.map(\.name))
        // A server that is away may have what the others lack.
        let areAllHere = followers.count == info.followers.count
        let inventory = stream == names.journal && areAllHere ? try await inventory(upTo: info.lastSequence) : []
        let behind = Set(followers.filter { !$0.isCurrent }.map(\.name))
        guard info.messageCount > 0, servers.count > 1 || !inventory.isEmpty else {
            return Result(members: members, read: Set(servers))
        }
        let settings = ConsumerSettings(headersOnly: true, inactiveThreshold: .seconds(300))
        let found = try await withConsumers(
            on: servers[...], of: stream, settings: settings, consumers: []
        ) { consumers in
            try await compare(consumers, of: servers, behind: behind, in: stream, inventory, upTo: info.lastSequence)
        }
        guard let found else { throw NATSError(.timeout, "a server does not serve \(stream) now") }
        return Result(differences: found, members: members, read: Set(servers))
    }

    /// Creates a consumer on each of some servers.
    private func withConsumers(
        on servers: ArraySlice<String>, of stream: String, settings: ConsumerSettings, consumers: [PullConsumer],
        _ body: ([PullConsumer]) async throws -> ReplicaDifferences
    ) async throws -> ReplicaDifferences? {
        guard let server = servers.first else { return try await body(consumers) }
        let result: ReplicaDifferences?? = try await jetStream.withConsumer(
            of: stream, settings, on: { $0 ?? server == server }
        ) { consumer in
            try await withConsumers(
                on: servers.dropFirst(), of: stream, settings: settings, consumers: consumers + [consumer], body)
        }
        return result ?? nil
    }

    /// - Parameters:
    ///   - behind: The servers that may not have the newest messages yet.
    ///   - inventory: The sequences of batches that the stream should have, in ascending order.
    private func compare(
        _ consumers: [PullConsumer], of servers: [String], behind: Set<String>, in stream: String, _ inventory: [Int],
        upTo end: Int
    ) async throws -> ReplicaDifferences {
        var comparison = SequenceComparison(count: consumers.count + 1)
        let record = consumers.count
        for sequence in inventory { comparison.add(sequence, from: record) }
        comparison.end(record)
        for (index, consumer) in consumers.enumerated() where consumer.initialPending == 0 { comparison.end(index) }
        var differences = ReplicaDifferences()
        var (count, deliveries) = (0, consumers.map { _ in DeliveredMessages() })
        while true {
            switch comparison.step() {
            case .needs(let source):
                let message: DeliveredMessage
                switch try await consumers[source].next() {
                case .message(let next): message = next
                case .idle(let last):
                    try deliveries[source].end(after: last)
                    comparison.end(source)
                    continue
                }
                guard message.streamSequence <= end else {
                    comparison.end(source)
                    if try await isForeign(message, to: stream) {
                        differences.diverged[servers[source], default: SequenceGaps()].add(message.streamSequence)
                    }
                    continue
                }
                try deliveries[source].record(message.consumerSequence)
                comparison.add(message.streamSequence, at: message.time, from: source)
                if message.pending == 0 { comparison.end(source) }
                count += 1
                if count % Self.portion == 0 { try await Task.sleep(for: Self.pause) }
            case .difference(let sequence, let lacking):
                // An inventory may not cover all of the journal.
                let lacking = lacking.subtracting([record])
                if lacking.count == consumers.count {
                    differences.lost.add(sequence)
                } else {
                    // A server that is behind gets what follows its last message.
                    for source in lacking where !(behind.contains(servers[source]) && comparison.hasEnded(source)) {
                        differences.incomplete[servers[source], default: SequenceGaps()].add(sequence)
                    }
                }
            case .conflict(let sequence, let times):
                // What the leader has counts.
                guard let time = times[Self.leader] else { continue }
                for (source, other) in times where other != time {
                    differences.diverged[servers[source], default: SequenceGaps()].add(sequence)
                }
            case .end: return differences
            }
        }
    }

    /// True if the leader does not have a message that another server has delivered, and that was not there when the
    /// comparison began.
    private func isForeign(_ message: DeliveredMessage, to stream: String) async throws -> Bool {
        if let stored = try await jetStream.message(of: stream, sequence: message.streamSequence) {
            return stored.time != message.time
        }
        return try await jetStream.stream(stream).lastSequence < message.streamSequence
    }

    // MARK: Inventories

    /// The sequences of the batches that the journal should have. Removes the inventories of what retention has
    /// removed.
    func inventory(upTo end: Int) async throws -> [Int] {
        let reader = RecordStore(jetStream, names, reporting: notices.report)
        let removal = try await reader.last(RemovalRecord.self, .removal, of: names.journal)
        // Without a valid record, everything before the first batch counts as removed.
        let removed =
            removal.damage == nil ? removal.value?.sequence ?? 0 : try await firstBatch().map { $0 - 1 } ?? UInt64(end)
        var (records, superseded) = ([InventoryRecord](), [String]())
        let settings = ConsumerSettings(filters: [names.inventories], start: .lastPerSubject)
        try await jetStream.readAll(of: names.documents, settings) { delivered in
            // The inventory of a newer program is left alone.
            guard let reading = try? reader.record(InventoryRecord.self, of: delivered) else { return }
            if let record = reading.value, record.epoch == epoch, record.end > removed + 1 {
                records.append(record)
            } else {
                superseded.append(delivered.subject)
            }
        }
        for subject in superseded {
            _ = try await jetStream.retrying { try await jetStream.purge(names.documents, filter: subject) }
        }
        return records.sorted { $0.first < $1.first }.flatMap(\.sequences).filter { $0 > removed }
            .map { Int(clamping: $0) }.filter { $0 <= end }
    }

    private func firstBatch() async throws -> UInt64? {
        try await jetStream.retrying {
            try await jetStream.firstSequence(
                of: names.journal, ConsumerSettings(filters: [names.batches], headersOnly: true))
        }
    }

    // MARK: Reports

    private func report(_ found: ReplicaDifferences, in stream: String, after known: ReplicaDifferences?) async throws {
        for (server, other) in found.diverged.sorted(by: { $0.key < $1.key })
        where known?.diverged[server] == nil {
            try await notices.say(
                .diverged,
                "server \(server) has other messages of \(stream) than the leader, from sequence \(other.first ?? 0) on: "
                    + "it was away when the others lost theirs, and readers may get messages of it. To repair it, "
                    + Self.repair(server))
        }
        for (server, gaps) in found.incomplete.sorted(by: { $0.key < $1.key })
        where gaps != known?.incomplete[server] {
            try await notices.say(
                .incompleteReplica,
                "server \(server) lacks \(gaps.text) of \(stream), which other servers have: its disk was damaged. "
                    + "Readers get them from the other servers. To repair it, " + Self.repair(server))
        }
        if !found.lost.isEmpty, found.lost != known?.lost {
            let end = found.lost.sequences.max().map { StreamPosition.end(of: UInt64($0)) } ?? 0
            try await notices.say(
                .damaged,
                "no server has \(found.lost.text) of \(stream) any more, at the offsets up to \(end)"
                    + "\(found.lost.isTruncated ? " at least" : ""): they are lost, and consumers that have not handled "
                    + "them skip them")
        }
        let different = Set((known?.incomplete ?? [:]).keys).union((known?.diverged ?? [:]).keys)
        for server in different.sorted() where found.incomplete[server] == nil && found.diverged[server] == nil {
            logger.notice("server \(server) has all messages of \(stream) again")
        }
    }

    private static func repair(_ server: String) -> String {
        "stop \(server), empty its store_dir, and start it again while the others run: it then copies all from them"
    }
}

extension StreamInfo.Follower {
    /// True if the server is not far behind the leader, and can be read. While somebody publishes, a server is seldom
    /// current.
    fileprivate var isClose: Bool { isActive && (isCurrent || lag <= 1000) }
}
