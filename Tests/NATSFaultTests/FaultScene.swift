import BusChecker
import BusSoak
import EventBus
import Foundation
import NATSLayout
import NATSTestSupport
import Testing

/// The processes of one test: three servers, two stewards, publishers, a subscriber and two durable consumers.
///
/// After the fault all of them finish, and the checker of the soak compares their histories with the journal.
struct FaultScene: Sendable {
    let arena: Arena
    let cluster: NATSCluster
    /// The steward that leads at the beginning.
    let leadingSteward: ChildProcess
    let publisher: ChildProcess
    let reader: ChildProcess
    /// The members of one durable consumer.
    let workers: [ChildProcess]
    /// The only member of another one.
    let consumer: ChildProcess
    let following: ChildProcess

    static let journal = Arena.namespace

    /// Runs `fault` while all processes work, and expects that nothing acknowledged is lost, doubled or out of order.
    /// - Parameters:
    ///   - extra: The names of further publishers that `fault` starts with ``startPublisher(_:on:)``.
    ///   - fault: Returns when the processes work again.
    static func run(
        on cluster: @autoclosure () throws -> NATSCluster = try NATSCluster(), extra: [String] = [],
        _ fault: @escaping @Sendable (FaultScene) async throws -> Void
    ) async throws {
        try await runLosing(on: try cluster(), extra: extra) { scene in
            try await fault(scene)
            return []
        }
    }

    /// Runs a fault that makes the servers lose messages.
    /// - Parameter fault: Returns the messages that may be lost although they were acknowledged.
    static func runLosing(
        on cluster: @autoclosure () throws -> NATSCluster = try NATSCluster(), extra: [String] = [],
        _ fault: @escaping @Sendable (FaultScene) async throws -> Set<Value>
    ) async throws {
        try await Arena.with(try cluster()) { arena in
            let scene = try await FaultScene(in: arena)
            try await arena.untilAcknowledged(100, more: "before the fault")
            try await arena.until("all consumers work") { counts in
                (scene.workers + [scene.consumer]).allSatisfy { counts[$0.name]?.handled ?? 0 > 0 }
            }
            let losable = try await fault(scene)
            try await scene.finish(extra, losable)
        }
    }

    private init(in arena: Arena) async throws {
        self.arena = arena
        cluster = try #require(arena.cluster)
        leadingSteward = try await arena.startSteward("steward1")
        publisher = try await arena.startFixture("publisher", "publish", ["--lanes", "4", "--batch", "2"])
        try await arena.untilLog(of: leadingSteward.name, "says that it leads") { $0.contains("leading") }
        following = try await arena.startSteward("steward2")
        reader = try await arena.startFixture("reader", "subscribe")
        consumer = try await arena.startConsumer("consumer", group: "exclusive")
        workers = [
            try await arena.startConsumer("worker1", group: "shared", mode: .shared),
            try await arena.startConsumer("worker2", group: "shared", mode: .shared),
        ]
    }

    /// Starts a publisher that knows only some of the servers.
    func startPublisher(_ name: String, on servers: [NATSServer]) async throws -> ChildProcess {
        try await arena.startFixture(
            name, "publish", ["--lanes", "2", "--batch", "2"], bus: Arena.address(of: servers))
    }

    private func finish(_ extra: [String], _ losable: Set<Value>) async throws {
        let publishers = ["publisher"] + extra
        for child in arena.processes where publishers.contains(child.name) && !child.hasEnded {
            try await child.send(SIGTERM)
            #expect(try await arena.untilEnd(of: child) == .exited(0), "\(arena.log(of: child.name))")
        }
        let clients = (workers + [consumer, reader]).filter { !$0.hasEnded }
        var history = try await arena.history(
            publishers: publishers, groups: ["exclusive", "shared"], readers: [reader.name]
        ) {
            for client in clients {
                try await client.send(SIGTERM)
                #expect(try await arena.untilEnd(of: client) == .exited(0), "\(arena.log(of: client.name))")
            }
        }
        history.acknowledged.subtract(losable.subtracting(history.journal.compactMap(\.value)))
        var findings = Checker.findings(in: history)
        if !losable.isEmpty {
            // A process that had seen no lost message works on until the new epoch begins. What it handles then is
            // handled again.
            findings.removeAll { if case .resultDoubled = $0 { true } else { false } }
        }
        if !findings.isEmpty {
            Issue.record("\(findings.count) findings: \(findings.prefix(20))\n\(arena.failure(""))")
        }
        #expect(history.acknowledged.count > 100)
        for steward in [leadingSteward, following] where !steward.hasEnded {
            try await steward.send(SIGTERM)
            #expect(try await arena.untilEnd(of: steward) == .exited(0), "\(arena.log(of: steward.name))")
        }
    }

    // MARK: Waiting

    /// Waits until the publishers, the reader and the consumers have made progress.
    func untilWorking(_ what: String) async throws {
        try await arena.untilAcknowledged(100, more: what)
        let before = await arena.counts()
        let names = (workers + [consumer]).filter { !$0.hasEnded }.map(\.name)
        try await arena.until("the reader and the consumers go on \(what)") { counts in
            let delivered = (counts["reader"]?.delivered ?? 0) > (before["reader"]?.delivered ?? 0)
            // One of the workers may have no partition with messages.
            let handled = names.reduce(0) { $0 + (counts[$1]?.handled ?? 0) }
            return delivered && handled > names.reduce(0) { $0 + (before[$1]?.handled ?? 0) }
        }
    }

    /// The server that leads the journal. Waits until there is one that is not `other`.
    func leader(otherThan other: NATSServer? = nil) async throws -> NATSServer {
        try await arena.within(.seconds(60), "no server became the leader of the journal") {
            if let other { return try await cluster.leader(of: Self.journal, otherThan: other) }
            return try await cluster.leader(of: Self.journal)
        }
    }

    /// Waits until every server has all that is stored.
    func untilCurrent() async throws {
        try await arena.within(.seconds(60), "a server has not received what the others have stored") {
            try await cluster.waitUntilCurrent(StreamNames(Self.journal).all)
        }
    }

    /// A server that does not lead the journal.
    func follower() async throws -> NATSServer {
        let leader = try await leader()
        return try #require(cluster.servers.first { $0 !== leader })
    }
}
