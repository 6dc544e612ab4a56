internal import BusChecker
internal import EventBus
internal import Foundation
internal import Glibc
internal import NATSTestSupport

/// The processes of a round of the soak test. Each start of a process is a new incarnation of it.
actor Crew {
    private let arena: Arena
    private var processes: [Member: ChildProcess] = [:]
    /// The incarnations of consumers that were stopped and replaced by a successor.
    private var predecessors: [Member: [ChildProcess]] = [:]
    /// The servers that were hit last as the leader, as a follower or together.
    private var hitServers: [Member: [NATSServer]] = [:]
    private(set) var incarnations: [Member: [String]] = [:]
    /// The names of the servers that were killed.
    private var away: Set<String> = []
    private(set) var tally = Tally()
    /// The processes that ended without being asked to, or with an error.
    private(set) var surprises: [String] = []
    /// The times at which the broker and the coordinators came and went, and at which the broker did not answer.
    private(set) var changes: [AvailabilityChange] = []

    struct Tally {
        var kills = 0
        var stops = 0
        var restarts = 0
        /// The kills and stops of servers.
        var serverFaults = 0
        /// The kills and stops of stewards.
        var stewardFaults = 0
    }

    init(arena: Arena) {
        self.arena = arena
    }

    /// Asks the broker again and again, and records the times at which it takes longer than a second to answer.
    func watchBroker() async throws {
        try await arena.withBus(deadline: .seconds(86400)) { bus in
            while true {
                let start = Self.now
                _ = try await bus.inspect.consumers()
                if Self.now - start > 1000 { await self.recordSilence(since: start) }
                try await Task.sleep(for: .milliseconds(250))
            }
        }
    }

    private func recordSilence(since start: Int) {
        changes.append(AvailabilityChange(time: start, process: .answers, isAvailable: false))
        changes.append(AvailabilityChange(time: Self.now, process: .answers, isAvailable: true))
    }

    /// The time in milliseconds since 1970.
    private static var now: Int { Int(Date().timeIntervalSince1970 * 1000) }

    func perform(_ step: Step) async throws {
        if step.member.isServer { return try await performOnServers(step) }
        switch step.action {
        case .kill: try await kill(step.member)
        case .start: try await restart(step.member)
        case .stop: try await stop(step.member)
        case .resume: try await resume(step.member)
        case .leave:
            record(step.member, isAvailable: false)
            try await end([step.member], mayBeLate: arena.cluster != nil)
        case .pause(let milliseconds):
            let publishers = step.member.isOfBus ? [] : Member.publishers
            try await stop(step.member)
            for publisher in publishers { try await processes[publisher]?.send(SIGSTOP) }
            try await Task.sleep(for: .milliseconds(milliseconds))
            for member in publishers + [step.member] { try await resume(member) }
        case .absence(let milliseconds):
            try await kill(step.member)
            try await Task.sleep(for: .milliseconds(milliseconds))
            try await restart(step.member)
        case .takeOver:
            try await stop(step.member)
            predecessors[step.member, default: []] += [processes[step.member]].compactMap(\.self)
            try await restart(step.member)
        case .release: try await predecessors[step.member]?.last?.send(SIGCONT)
        // Only servers of NATS have files of their own.
        case .damage: break
        }
    }

    /// A step whose member stands for servers. The servers are chosen when the fault begins.
    private func performOnServers(_ step: Step) async throws {
        switch step.action {
        case .kill: try await kill(try await chooseServers(for: step.member))
        case .stop: stop(try await chooseServers(for: step.member))
        case .resume: resume(hitServers[step.member] ?? [])
        case .start: try await restart(hitServers[step.member] ?? [])
        case .pause(let milliseconds):
            stop(try await chooseServers(for: step.member))
            try await Task.sleep(for: .milliseconds(milliseconds))
            resume(hitServers[step.member] ?? [])
        case .absence(let milliseconds):
            try await kill(try await chooseServers(for: step.member))
            try await Task.sleep(for: .milliseconds(milliseconds))
            try await restart(hitServers[step.member] ?? [])
        case .damage(let milliseconds):
            try await kill(try await chooseServers(for: step.member))
            for server in hitServers[step.member] ?? [] { try server.flipBit(inMessagesOf: Arena.namespace) }
            try await Task.sleep(for: .milliseconds(milliseconds))
            try await restart(hitServers[step.member] ?? [])
        case .leave, .takeOver, .release: break
        }
    }

    private func chooseServers(for member: Member) async throws -> [NATSServer] {
        guard let cluster = arena.cluster else { return [] }
        let leader = try await arena.within(Arena.deadline, "no server became the leader of the journal") {
            try await cluster.leader(of: Arena.namespace)
        }
        let chosen =
            switch member {
            case .leader: [leader]
            case .follower: Array(cluster.servers.filter { $0 !== leader }.prefix(1))
            default: cluster.servers
            }
        hitServers[member] = chosen
        return chosen
    }

    private func kill(_ servers: [NATSServer]) async throws {
        recordBus(isAvailable: false)
        recordSurprises(servers)
        // All at once: none of them sees the end of another.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for server in servers where server.isAlive { group.addTask { try await server.kill() } }
            try await group.waitForAll()
        }
        away.formUnion(servers.map(\.name))
        tally.kills += servers.count
        tally.serverFaults += servers.count
    }

    private func restart(_ servers: [NATSServer]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for server in servers where away.contains(server.name) { group.addTask { try await server.restart() } }
            try await group.waitForAll()
        }
        away.subtract(servers.map(\.name))
        tally.restarts += servers.count
        recordBus(isAvailable: true)
    }

    private func stop(_ servers: [NATSServer]) {
        recordBus(isAvailable: false)
        for server in servers { server.pause() }
        tally.stops += servers.count
        tally.serverFaults += servers.count
    }

    private func resume(_ servers: [NATSServer]) {
        for server in servers { server.resume() }
        recordBus(isAvailable: true)
    }

    /// Records servers that have ended by themselves.
    private func recordSurprises(_ servers: [NATSServer]) {
        for server in servers where !server.isAlive && !away.contains(server.name) {
            surprises.append("\(server.name) ended before it was killed")
        }
    }

    /// Continues and starts the servers that are away.
    func restoreServers() async throws {
        guard let servers = arena.cluster?.servers else { return }
        resume(servers.filter(\.isPaused))
        try await restart(servers)
        recordSurprises(servers)
    }

    func start(_ member: Member) async throws {
        let name = "\(member.name).\((incarnations[member]?.count ?? 0) + 1)"
        incarnations[member, default: []].append(name)
        processes[member] =
            switch member {
            case .broker: try await arena.startBroker(name)
            case .steward: try await arena.startSteward(name)
            case .leader, .follower, .servers: nil
            case .publisher: try await arena.startFixture(name, "publish")
            case .visitor: try await arena.startFixture(name, "visit")
            case .subscriber: try await arena.startFixture(name, "subscribe")
            case .consumer: try await arena.startConsumer(name, group: member.group ?? member.name)
            case .worker: try await arena.startConsumer(name, group: member.group ?? member.name, mode: .shared)
            case .timers: try await arena.startFixture(name, "timers")
            case .coordinator: try await arena.startCoordinator(name)
            }
        record(member, isAvailable: true)
    }

    /// Asks processes to end, and waits until they have ended.
    /// - Parameter mayBeLate: True if a process may end with the status of unfinished work. Without a leader of the
    ///   servers it cannot record what it has handled, and an election can take longer than its time to end.
    func end(_ members: [Member], mayBeLate: Bool = false) async throws {
        for process in members.compactMap({ processes[$0] }) { try await process.send(SIGTERM) }
        for member in members {
            guard let process = processes[member] else { continue }
            let end: ProcessEnd
            do {
                end = try await arena.waitUntilEnd(of: process)
            } catch let failure as ArenaFailure {
                // It was killed. The histories may say what it waited for.
                surprises.append(failure.reason)
                await arena.progress.unfollow(process.name)
                continue
            }
            // SIGTERM kills a process that was just restarted and does not handle the signal yet.
            let isLate = mayBeLate && end == .unfinished
            if end != .exited(0), end != .signalled(SIGTERM), !isLate {
                surprises.append("\(process.name) ended: \(end)")
            }
            await arena.progress.unfollow(process.name)
        }
    }

    /// Waits until one incarnation of each consumer is left, and continues with that one. Must be called after the last
    /// ``Step/Action/release``, and before ``end(_:)``.
    func settle() async throws {
        for (member, newest) in processes where member.group != nil {
            let all = (predecessors.removeValue(forKey: member) ?? []) + [newest]
            try await arena.until("one incarnation of \(member.name) is left") { _ in
                all.count { !$0.hasEnded } <= 1
            }
            for process in all where process.hasEnded {
                let end = await process.end
                if !isFenced(member, end) { surprises.append("\(process.name) ended: \(end)") }
                await arena.progress.unfollow(process.name)
            }
            if let last = all.first(where: { !$0.hasEnded }) {
                processes[member] = last
            } else {
                // No incarnation is left.
                try await restart(member)
            }
        }
    }

    private func isFenced(_ member: Member, _ end: ProcessEnd) -> Bool {
        member.group != nil && end == .exited(FixtureProcess.fenced)
    }

    private func restart(_ member: Member) async throws {
        tally.restarts += 1
        try await start(member)
    }

    private func resume(_ member: Member) async throws {
        // A process that was killed while it was stopped does not come back.
        guard let process = processes[member], !process.hasEnded else { return }
        try await process.send(SIGCONT)
        record(member, isAvailable: true)
    }

    private func stop(_ member: Member) async throws {
        tally.stops += 1
        if member.isSteward { tally.stewardFaults += 1 }
        record(member, isAvailable: false)
        try await processes[member]?.send(SIGSTOP)
    }

    private func kill(_ member: Member) async throws {
        guard let process = processes[member] else { return }
        tally.kills += 1
        if member.isSteward { tally.stewardFaults += 1 }
        record(member, isAvailable: false)
        try await process.send(SIGKILL)
        let end = await process.end
        if end != .signalled(SIGKILL), !isFenced(member, end) {
            surprises.append("\(process.name) ended before it was killed: \(end)")
        }
        await arena.progress.unfollow(process.name)
    }

    private func record(_ member: Member, isAvailable: Bool) {
        let process: AvailabilityChange.Process
        switch member {
        // A steward is a part of the bus: without it, nobody takes over the sessions of a killed coordinator.
        case .broker, .steward, .leader, .follower, .servers: process = .broker
        case .coordinator(let number): process = .coordinator(number)
        case .publisher, .visitor, .subscriber, .consumer, .worker, .timers: return
        }
        changes.append(AvailabilityChange(time: Self.now, process: process, isAvailable: isAvailable))
    }

    private func recordBus(isAvailable: Bool) { record(.servers, isAvailable: isAvailable) }
}

/// A process of a round, independent of its incarnation.
package enum Member: Hashable, Sendable {
    case broker
    /// A steward of a bus on NATS.
    case steward(Int)
    /// Stands for the server of NATS that leads the journal at the time of a step.
    case leader
    /// Stands for a server that does not lead the journal at the time of a step.
    case follower
    /// Stands for all servers.
    case servers
    case publisher(Int)
    /// Uses sessions of the coordinators.
    case visitor(Int)
    case subscriber(Int)
    /// The only consumer of its group.
    case consumer
    /// Shares a group with the other workers.
    case worker(Int)
    /// Sets timers, and shares their durable consumer with the others.
    case timers(Int)
    /// Shares the sessions with the other coordinators.
    case coordinator(Int)

    static let coordinators: [Member] = (1...4).map(Member.coordinator)

    static let publishers: [Member] = [.publisher(1), .publisher(2)]
    private static let clients: [Member] =
        publishers + [
            .visitor(1), .visitor(2), .subscriber(1), .subscriber(2), .consumer, .worker(1), .worker(2), .timers(1),
            .timers(2),
        ] + coordinators

    /// The members that faults hit.
    static func targets(on engine: Engine) -> [Member] {
        switch engine {
        case .zeroMQ: [.broker] + clients
        case .nats: [.leader, .follower, .servers, .steward(1), .steward(2)] + clients
        }
    }

    /// The members that a round starts, in this order. The servers run already.
    static func started(on engine: Engine) -> [Member] { targets(on: engine).filter { !$0.isServer } }

    package var name: String {
        switch self {
        case .broker: "broker"
        case .steward(let number): "steward\(number)"
        case .leader: "leader"
        case .follower: "follower"
        case .servers: "servers"
        case .publisher(let number): "publisher\(number)"
        case .visitor(let number): "visitor\(number)"
        case .subscriber(let number): "subscriber\(number)"
        case .consumer: "consumer"
        case .worker(let number): "worker\(number)"
        case .timers(let number): "timers\(number)"
        case .coordinator(let number): "coordinator\(number)"
        }
    }

    /// The name of its durable consumer; nil if it is not a consumer of values. Each group handles all values.
    package var group: String? {
        switch self {
        case .consumer: "exclusive"
        case .worker: "shared"
        default: nil
        }
    }

    /// True if it stands for servers of NATS.
    package var isServer: Bool {
        switch self {
        case .leader, .follower, .servers: true
        default: false
        }
    }

    package var isSteward: Bool {
        if case .steward = self { true } else { false }
    }

    /// True if it is not a client of the bus.
    var isOfBus: Bool {
        switch self {
        case .broker, .steward: true
        default: isServer
        }
    }

    var isPublisher: Bool {
        if case .publisher = self { true } else { false }
    }

    /// True if its history contains the values that it published.
    var hasValues: Bool {
        if case .visitor = self { true } else { isPublisher }
    }

    var isSubscriber: Bool {
        if case .subscriber = self { true } else { false }
    }
}
