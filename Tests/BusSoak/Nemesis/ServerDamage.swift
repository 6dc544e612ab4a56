package import BusChecker
internal import EventBus
package import NATSTestSupport
internal import TestSupport

/// Damage to the disks of servers of NATS.
package enum ServerDamage: CaseIterable, Sendable {
    /// One server returns with an older copy of its store, and leads later.
    case olderCopy
    /// All servers return with older copies of their stores.
    case olderCopies
    /// A bit of a follower's files flips while it does not run; later the server leads.
    case bit
    /// A bit flips in each record of claims, leases and progress that a follower has, while it does not run; later the
    /// server leads.
    case records
    /// The disk of a follower is full.
    case fullDisk
    /// The disk of the leader is full.
    case fullDiskOfLeader

    /// The damage that is possible here: some needs a disk of its own.
    package static var possible: [Self] {
        SmallDisk.isAllowed ? allCases : allCases.filter { $0.diskSize == nil }
    }

    /// The size of the first server's disk; nil if it needs none of its own.
    package var diskSize: String? {
        switch self {
        case .fullDisk, .fullDiskOfLeader: "256m"
        case .olderCopy, .olderCopies, .bit, .records: nil
        }
    }

    /// True if the others need little time to recover. Otherwise 1,024 batches at a time would become more messages
    /// than the consumers can handle before the round ends.
    var isShort: Bool {
        switch self {
        case .olderCopies, .fullDisk, .fullDiskOfLeader: true
        case .olderCopy, .bit, .records: false
        }
    }

    /// Damages servers, and waits until all processes work again.
    /// - Returns: The loss; nil if nothing may be lost.
    package func befall(_ scene: FaultScene) async throws -> LostEnd? {
        switch self {
        case .olderCopy: try await scene.putBackCopyOfOne()
        case .olderCopies: return try await scene.putBackCopies()
        case .bit: try await scene.damageFollower { try $0.flipBit(inMessagesOf: FaultScene.journal) }
        case .records:
            let records = "\(FaultScene.journal).k."
            try await scene.damageFollower {
                try $0.flipBits(inMessagesOf: FaultScene.journal) { $0.utf8.starts(with: records.utf8) }
            }
        case .fullDisk:
            try await scene.handJournal(to: scene.servers[1])
            try await scene.fillFirstDisk()
        case .fullDiskOfLeader:
            try await scene.makeLeader(scene.servers[0])
            try await scene.fillFirstDisk()
        }
        return nil
    }
}

extension FaultScene {
    fileprivate func putBackCopyOfOne() async throws {
        let old = try await follower()
        try await old.kill()
        try old.saveStore()
        try await old.restart()
        try await waitUntilWorking("after the copy was made")
        try await old.kill()
        try old.putBackStore()
        try await old.restart()
        try await waitUntilWorking("after the server has returned with an old disk")
        try await makeLeader(old)
        try await waitUntilWorking("with the leader that had an old disk")
    }

    fileprivate func putBackCopies() async throws -> LostEnd {
        try await putBackCopies(of: servers) { for server in servers { try await server.restart() } }
    }

    /// Replaces the stores of some servers by older copies, and waits until all processes work in a new epoch.
    /// - Parameter restart: Starts all servers.
    package func putBackCopies(of old: [NATSServer], _ restart: () async throws -> Void) async throws -> LostEnd {
        for server in servers { try await server.kill() }
        for server in old { try server.saveStore() }
        let kept = arena.acknowledged(by: publisher.name)
        for server in servers { try await server.restart() }
        try await waitUntilWorking("after the copy was made")
        for server in servers { try await server.kill() }
        for server in old { try server.putBackStore() }
        let invoked = arena.invoked(by: publisher.name)
        try await restart()
        try await waitUntilNewEpoch()
        // A process that had seen no lost message works on until the new epoch begins.
        return lostEnd(kept: kept, of: invoked, mayRepeatResults: true)
    }

    fileprivate func damageFollower(_ damage: (NATSServer) throws -> Void) async throws {
        // The server gets again only what belongs into its last file.
        try await fill()
        let damaged = try await follower()
        try await damaged.kill()
        try damage(damaged)
        try await damaged.restart()
        try await waitUntilASteward(says: "server \(damaged.name) lacks")
        try await waitUntilEachReaderHasAll()
        try await handJournal(to: damaged)
        try await waitUntilEachReaderHasAll()
        try await waitUntilWorking("with the leader that has lost messages")
        try await waitUntilEachGroupHandles("with the leader that has lost messages")
    }

    /// Lets a server lead the journal, without a fault.
    fileprivate func handJournal(to server: NATSServer) async throws {
        let cluster = try cluster()
        try await arena.within(Arena.deadline, "\(server.name) did not become the leader of the journal") {
            try await cluster.handLeadership(of: Self.journal, to: server)
        }
    }

    /// Waits until each durable consumer has handled more messages.
    private func waitUntilEachGroupHandles(_ what: String) async throws {
        let before = await arena.counts()
        for names in [workers.map(\.name), [consumer.name]] {
            let handled = { @Sendable (counts: [String: Counts]) in
                names.reduce(0) { $0 + (counts[$1]?.handled ?? 0) }
            }
            let least = handled(before) + 20
            try await arena.until("\(names) go on \(what)") { handled($0) > least }
        }
    }

    private static var fillerCount: Int { 95 }

    /// Publishes more than one of the servers' files has, which is 8 MiB.
    private func fill() async throws {
        let text = String(repeating: "x", count: 100_000)
        try await arena.withBus { bus in
            for number in 0..<Self.fillerCount {
                try await bus.publish(
                    Batch([try Envelope(Filler(number: number, text: text), source: "test", subject: "s\(number)")]))
            }
        }
    }

    /// Reads the fillers several times, each time from servers that JetStream chooses.
    private func waitUntilEachReaderHasAll() async throws {
        for _ in 0..<3 {
            let numbers = try await arena.withBus { bus in
                try await bus.withSubscription(to: [.type(Filler.self)], from: .beginning) { messages in
                    var numbers: [Int] = []
                    for try await message in messages {
                        numbers.append(try message.decode(Filler.self).number)
                        if numbers.count == Self.fillerCount { break }
                    }
                    return numbers
                }
            }
            guard numbers == Array(0..<Self.fillerCount) else {
                throw arena.failure("a reader has got others than all messages in their order: \(numbers)")
            }
        }
    }

    /// Fills the disk of the first server, which has one of its own.
    fileprivate func fillFirstDisk() async throws {
        try servers[0].fillDisk()
        try await waitUntilWorking("while the disk is full")
        try await servers[0].restart()
        try await waitUntilWorking("after the server has room again")
    }
}

private struct Filler: EventMessage {
    var number: Int
    var text: String
}
