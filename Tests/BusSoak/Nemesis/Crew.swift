internal import EventBus
internal import Glibc

/// The processes of a round: their incarnations, one after the other.
actor Crew {
    private let arena: Arena
    private var processes: [Member: ChildProcess] = [:]
    /// Incarnations of consumers that were stopped, and whose successors were started.
    private var predecessors: [Member: [ChildProcess]] = [:]
    private(set) var incarnations: [Member: [String]] = [:]
    private(set) var tally = Tally()
    /// What ended though nobody had asked it to.
    private(set) var surprises: [String] = []

    struct Tally {
        var kills = 0
        var stops = 0
        var restarts = 0
    }

    init(arena: Arena) {
        self.arena = arena
    }

    func perform(_ step: Step) async throws {
        switch step.action {
        case .kill: try await kill(step.member)
        case .start: try await restart(step.member)
        case .stop: try await stop(step.member)
        case .resume: try await processes[step.member]?.send(SIGCONT)
        case .pause(let milliseconds):
            let publishers = step.member == .broker ? [] : Member.all.filter(\.isPublisher)
            try await stop(step.member)
            for publisher in publishers { try await processes[publisher]?.send(SIGSTOP) }
            try await Task.sleep(for: .milliseconds(milliseconds))
            for member in publishers + [step.member] { try await processes[member]?.send(SIGCONT) }
        case .absence(let milliseconds):
            try await kill(step.member)
            try await Task.sleep(for: .milliseconds(milliseconds))
            try await restart(step.member)
        case .takeOver:
            try await stop(step.member)
            predecessors[step.member, default: []] += [processes[step.member]].compactMap(\.self)
            try await restart(step.member)
        case .release: try await predecessors[step.member]?.last?.send(SIGCONT)
        }
    }

    func start(_ member: Member) async throws {
        let name = "\(member.name).\((incarnations[member]?.count ?? 0) + 1)"
        incarnations[member, default: []].append(name)
        processes[member] =
            switch member {
            case .broker: try await arena.startBroker(name)
            case .publisher: try await arena.startFixture(name, "publish")
            case .subscriber: try await arena.startFixture(name, "subscribe")
            case .consumer: try await arena.startConsumer(name, group: member.group ?? member.name)
            case .worker: try await arena.startConsumer(name, group: member.group ?? member.name, mode: .shared)
            }
    }

    /// Asks processes to end, and waits until they have.
    func end(_ members: [Member]) async throws {
        for process in members.compactMap({ processes[$0] }) { try await process.send(SIGTERM) }
        for member in members {
            guard let process = processes[member] else { continue }
            let end = try await arena.untilEnd(of: process)
            // One that was restarted last may be asked to end before it listens for that.
            if end != .exited(0), end != .signalled(SIGTERM) { surprises.append("\(process.name) ended so: \(end)") }
            await arena.progress.unfollow(process.name)
        }
    }

    /// Waits until one incarnation of each consumer is left, and continues with that one. Call it when everything has been
    /// released, and before ``end(_:)``.
    ///
    /// An exclusive consumer belongs to the process whose first claim came last (`docs/bus.md`). That is not always the one
    /// that was started last: one that was stopped before its first claim makes it when it goes on, which may be at any
    /// time after its release. Its successor is fenced then, and learns that from its next renewal.
    func settle() async throws {
        for (member, newest) in processes where member.group != nil {
            let all = (predecessors.removeValue(forKey: member) ?? []) + [newest]
            try await arena.until("one incarnation of \(member.name) is left") { _ in
                all.count { !$0.hasEnded } <= 1
            }
            for process in all where process.hasEnded {
                let end = await process.end
                if !isFenced(member, end) { surprises.append("\(process.name) ended so: \(end)") }
                await arena.progress.unfollow(process.name)
            }
            if let last = all.first(where: { !$0.hasEnded }) {
                processes[member] = last
            } else {
                // The last claim was that of a process that was killed.
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

    private func stop(_ member: Member) async throws {
        tally.stops += 1
        try await processes[member]?.send(SIGSTOP)
    }

    private func kill(_ member: Member) async throws {
        guard let process = processes[member] else { return }
        tally.kills += 1
        try await process.send(SIGKILL)
        let end = await process.end
        if end != .signalled(SIGKILL), !isFenced(member, end) {
            surprises.append("\(process.name) ended before it was killed: \(end)")
        }
        await arena.progress.unfollow(process.name)
    }
}

/// A process of a round, whichever incarnation of it runs.
package enum Member: Hashable, Sendable {
    case broker
    case publisher(Int)
    case subscriber(Int)
    /// Has a group to itself.
    case consumer
    /// Shares a group with the other workers.
    case worker(Int)

    /// Two of those that there may be several of, so that one is hit while the other goes on.
    package static let all: [Member] = [
        .broker, .publisher(1), .publisher(2), .subscriber(1), .subscriber(2), .consumer, .worker(1), .worker(2),
    ]

    package var name: String {
        switch self {
        case .broker: "broker"
        case .publisher(let number): "publisher\(number)"
        case .subscriber(let number): "subscriber\(number)"
        case .consumer: "consumer"
        case .worker(let number): "worker\(number)"
        }
    }

    /// The durable name under which it consumes: each group handles everything.
    package var group: String? {
        switch self {
        case .consumer: "exclusive"
        case .worker: "shared"
        case .broker, .publisher, .subscriber: nil
        }
    }

    var isPublisher: Bool {
        if case .publisher = self { true } else { false }
    }

    var isSubscriber: Bool {
        if case .subscriber = self { true } else { false }
    }
}
