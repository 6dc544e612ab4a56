internal import Contracts
package import EventBus
package import FlowExploration
package import Navigation

/// Replays the recorded sessions of a platform to the next version of its flow, on several cores.
///
/// Messages are collected, and then handled by all cores at the same time. Each core has its own sessions.
package actor ReleaseReplay {
    private let shards: [ReleaseShard]
    private var collected: [[Envelope]]
    private var count = 0

    /// The number of messages that are collected.
    private static let batchCount = 4096

    package init(from old: Flow, to new: Flow, cores: Int) {
        shards = (0..<max(1, cores)).map { _ in ReleaseShard(from: old, to: new) }
        collected = shards.map { _ in [] }
    }

    /// Adds the next messages, in the order of the bus.
    package func add(_ messages: some Sequence<Envelope>) async {
        for message in messages {
            collected[Int(message.partition.number) % shards.count].append(message)
            count += 1
            if count == Self.batchCount { await handle() }
        }
    }

    /// Ends all sessions.
    /// - Returns: The reports of the cores, which have to be merged.
    package func end() async -> [ReleaseReport] {
        await handle()
        return await withTaskGroup { group in
            for shard in shards { group.addTask { await shard.end() } }
            var reports: [ReleaseReport] = []
            for await report in group { reports.append(report) }
            return reports
        }
    }

    private func handle() async {
        let batches = collected
        collected = shards.map { _ in [] }
        count = 0
        await withTaskGroup { group in
            for (shard, batch) in zip(shards, batches) { group.addTask { await shard.handle(batch) } }
        }
    }
}

/// The sessions of one core.
private actor ReleaseShard {
    private var release: FlowRelease
    private let platform: String
    private let consumer: String
    /// The last state of each open session.
    private var states: [String: Envelope] = [:]

    init(from old: Flow, to new: Flow) {
        release = FlowRelease(from: old, to: new)
        platform = old.platform
        consumer = old.consumer
    }

    func handle(_ messages: [Envelope]) {
        for message in messages {
            switch message.type {
            case Document.NavigationState.type: if message.attributes.key == platform { handle(state: message) }
            case DomainEvent.SessionEnded.type:
                states[message.subject] = nil
                release.end(message.subject)
            default:
                guard release.handles(message.type.description), message.concerns(consumer),
                    let input = Machine.Input(message)
                else { continue }
                release.add(input)
            }
        }
    }

    private func handle(state: Envelope) {
        guard !state.isTombstone else {
            states[state.subject] = nil
            return release.end(state.subject)
        }
        states[state.subject] = state
        if !release.knows(state.subject), let snapshot = Self.snapshot(state) { release.begin(with: snapshot) }
    }

    func end() -> ReleaseReport {
        release.endAll()
        for state in states.values { if let snapshot = Self.snapshot(state) { release.restore(snapshot) } }
        return release.report
    }

    /// Nil if the data is no snapshot: a coordinator cannot restore the session either.
    private static func snapshot(_ state: Envelope) -> NavigationSnapshot? {
        try? state.decode(Document.NavigationState.self).snapshot
    }
}
