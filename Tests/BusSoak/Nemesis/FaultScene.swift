package import BusChecker
internal import EventBus
internal import Glibc
internal import NATSLayout
package import NATSTestSupport

/// The processes of one fault: a publisher, a subscriber and two durable consumers on a bus of either engine; on NATS
/// also two stewards.
///
/// After the fault all of them finish, and the checker compares their histories with the journal.
package struct FaultScene: Sendable {
    package let arena: Arena
    /// The stewards of a bus on NATS. The first one leads at the beginning.
    package let stewards: [ChildProcess]
    package let publisher: ChildProcess
    package let reader: ChildProcess
    /// The members of one durable consumer.
    package let workers: [ChildProcess]
    /// The only member of another one.
    package let consumer: ChildProcess
    /// The number of batches that are under way at any time.
    package let batches: Int

    package static let journal = Arena.namespace

    /// Starts the processes. With a broker, it runs already.
    /// - Parameter pause: The publisher's pause after each batch, in milliseconds.
    package init(in arena: Arena, batches: Int = 4, pause: Int = 0) async throws {
        self.arena = arena
        self.batches = batches
        let leading = arena.cluster == nil ? nil : try await arena.startSteward("steward1")
        publisher = try await arena.startFixture(
            "publisher", "publish",
            ["--lanes", "\(batches)", "--batch", batches > 4 ? "1" : "2", "--pause", "\(pause)"])
        if let leading {
            try await arena.waitUntilLog(of: leading.name, "says that it leads") { $0.contains("leading") }
            stewards = [leading, try await arena.startSteward("steward2")]
        } else {
            stewards = []
        }
        reader = try await arena.startFixture("reader", "subscribe")
        consumer = try await arena.startConsumer("consumer", group: "exclusive")
        workers = [
            try await arena.startConsumer("worker1", group: "shared", mode: .shared),
            try await arena.startConsumer("worker2", group: "shared", mode: .shared),
        ]
        let others = workers + [consumer]
        try await arena.waitUntilAcknowledged(100, more: "before the fault")
        try await arena.until("all consumers work") { counts in
            others.allSatisfy { counts[$0.name]?.handled ?? 0 > 0 }
        }
    }

    /// Starts a publisher that knows only some of the servers.
    package func startPublisher(_ name: String, on servers: [NATSServer]) async throws -> ChildProcess {
        try await arena.startFixture(
            name, "publish", ["--lanes", "2", "--batch", "2"], bus: Arena.address(of: servers))
    }

    /// Lets all processes finish that still run, except for the broker.
    /// - Parameter extra: The names of further publishers.
    /// - Returns: Their histories.
    package func finish(_ extra: [String] = []) async throws -> History {
        let publishers = ["publisher"] + extra
        try await arena.end(arena.processes.filter { publishers.contains($0.name) })
        let clients = workers + [consumer, reader]
        let history = try await arena.history(
            publishers: publishers, groups: ["exclusive", "shared"], readers: [reader.name]
        ) {
            try await arena.end(clients)
        }
        try await arena.end(stewards)
        return history
    }

    /// The loss of the end of the journal, after a new epoch has begun.
    /// - Parameters:
    ///   - kept: The values of the copy that is left.
    ///   - invoked: The values that the publisher had passed to the bus when the copy was put back.
    ///   - mayRepeatResults: See ``LostEnd/mayRepeatResults``.
    func lostEnd(kept: Set<Value>, of invoked: Set<Value>, mayRepeatResults: Bool) -> LostEnd {
        // A batch that was under way may be acknowledged in the new epoch, which must have it.
        let acknowledgements = arena.acknowledgements(of: publisher.name)
        let ended = acknowledgements.filter { $0.epoch == acknowledgements.first?.epoch }.map(\.value)
        return LostEnd(
            losable: invoked.intersection(ended).subtracting(kept), mayRepeatResults: mayRepeatResults)
    }

    // MARK: Waiting

    /// Waits until the publishers, the reader and the consumers have made progress.
    package func waitUntilWorking(_ what: String) async throws {
        try await arena.waitUntilAcknowledged(100, more: what)
        let before = await arena.counts()
        let names = (workers + [consumer]).filter { !$0.hasEnded }.map(\.name)
        try await arena.until("the reader and the consumers go on \(what)") { counts in
            let delivered = (counts["reader"]?.delivered ?? 0) > (before["reader"]?.delivered ?? 0)
            // One of the workers may have no partition with messages.
            let handled = names.reduce(0) { $0 + (counts[$1]?.handled ?? 0) }
            return delivered && handled > names.reduce(0) { $0 + (before[$1]?.handled ?? 0) }
        }
    }

    /// The time within which a steward reports damage. A check rests for twice the time that it takes, compares again
    /// after a pause, and begins again when another steward leads; on a busy machine, this takes minutes.
    private static let noticeDeadline: Duration = .seconds(300)

    /// Waits until one of the stewards has logged a text.
    package func waitUntilASteward(says text: String) async throws {
        let names = stewards.map(\.name)
        try await arena.until("a steward says that \(text)", deadline: Self.noticeDeadline) { _ in
            names.contains { arena.log(of: $0).contains(text) }
        }
    }

    /// Waits until the reader reads a new epoch, and all processes work in it.
    package func waitUntilNewEpoch() async throws {
        try await arena.until("the reader begins anew") { $0["reader"]?.live == 2 }
        try await waitUntilWorking("in the new epoch")
    }
}

// MARK: Servers

extension FaultScene {
    package var servers: [NATSServer] { arena.cluster?.servers ?? [] }

    package func cluster() throws -> NATSCluster {
        guard let cluster = arena.cluster else { throw arena.failure("the bus has no servers") }
        return cluster
    }

    /// The server that leads the journal. Waits until there is one that is not `other`.
    package func leader(otherThan other: NATSServer? = nil) async throws -> NATSServer {
        let cluster = try cluster()
        return try await arena.within(.seconds(60), "no server became the leader of the journal") {
            if let other { return try await cluster.leader(of: Self.journal, otherThan: other) }
            return try await cluster.leader(of: Self.journal)
        }
    }

    /// Waits until every server has all that is stored.
    package func waitUntilCurrent() async throws {
        let cluster = try cluster()
        try await arena.within(.seconds(60), "a server has not received what the others have stored") {
            try await cluster.waitUntilCurrent(StreamNames(Self.journal).all)
        }
    }

    /// A server that does not lead the journal.
    package func follower() async throws -> NATSServer {
        let leader = try await leader()
        guard let follower = servers.first(where: { $0 !== leader }) else {
            throw arena.failure("there is only one server")
        }
        return follower
    }

    /// Kills the present leader, again and again, until a server leads.
    package func makeLeader(_ server: NATSServer) async throws {
        while true {
            let leader = try await leader()
            if leader === server { return }
            try await waitUntilCurrent()
            try await leader.kill()
            _ = try await self.leader(otherThan: leader)
            try await leader.restart()
            try await waitUntilWorking("with another leader")
        }
    }
}
