internal import BusChecker
internal import EventBus
internal import Foundation
internal import Glibc

/// The processes of a round of the soak test. Each start of a process is a new incarnation of it.
actor Crew {
    private let arena: Arena
    private var processes: [Member: ChildProcess] = [:]
    /// The incarnations of consumers that were stopped and replaced by a successor.
    private var predecessors: [Member: [ChildProcess]] = [:]
    private(set) var incarnations: [Member: [String]] = [:]
    private(set) var tally = Tally()
    /// The processes that ended without being asked to, or with an error.
    private(set) var surprises: [String] = []
    /// The times at which the broker and the coordinators came and went, and at which the broker did not answer.
    private(set) var changes: [AvailabilityChange] = []

    struct Tally {
        var kills = 0
        var stops = 0
        var restarts = 0
    }

    init(arena: Arena) {
        self.arena = arena
    }

    /// Asks the broker again and again, and notes the times at which it takes longer than a second to answer.
    func watchBroker() async throws {
        try await arena.withBus(deadline: .seconds(86400)) { bus in
            while true {
                let start = Self.now
                _ = try await bus.consumers()
                if Self.now - start > 1000 { await self.noteSilence(since: start) }
                try await Task.sleep(for: .milliseconds(250))
            }
        }
    }

    private func noteSilence(since start: Int) {
        changes.append(AvailabilityChange(time: start, process: .answers, isAvailable: false))
        changes.append(AvailabilityChange(time: Self.now, process: .answers, isAvailable: true))
    }

    /// The time in milliseconds since 1970.
    private static var now: Int { Int(Date().timeIntervalSince1970 * 1000) }

    func perform(_ step: Step) async throws {
        switch step.action {
        case .kill: try await kill(step.member)
        case .start: try await restart(step.member)
        case .stop: try await stop(step.member)
        case .resume: try await resume(step.member)
        case .leave:
            note(step.member, isAvailable: false)
            try await end([step.member])
        case .pause(let milliseconds):
            let publishers = step.member == .broker ? [] : Member.all.filter(\.isPublisher)
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
        }
    }

    func start(_ member: Member) async throws {
        let name = "\(member.name).\((incarnations[member]?.count ?? 0) + 1)"
        incarnations[member, default: []].append(name)
        processes[member] =
            switch member {
            case .broker: try await arena.startBroker(name)
            case .publisher: try await arena.startFixture(name, "publish")
            case .visitor: try await arena.startFixture(name, "visit")
            case .subscriber: try await arena.startFixture(name, "subscribe")
            case .consumer: try await arena.startConsumer(name, group: member.group ?? member.name)
            case .worker: try await arena.startConsumer(name, group: member.group ?? member.name, mode: .shared)
            case .coordinator: try await arena.startCoordinator(name)
            }
        note(member, isAvailable: true)
    }

    /// Asks processes to end, and waits until they have ended.
    func end(_ members: [Member]) async throws {
        for process in members.compactMap({ processes[$0] }) { try await process.send(SIGTERM) }
        for member in members {
            guard let process = processes[member] else { continue }
            let end = try await arena.untilEnd(of: process)
            // SIGTERM kills a process that was just restarted and does not handle the signal yet.
            if end != .exited(0), end != .signalled(SIGTERM) { surprises.append("\(process.name) ended: \(end)") }
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
        note(member, isAvailable: true)
    }

    private func stop(_ member: Member) async throws {
        tally.stops += 1
        note(member, isAvailable: false)
        try await processes[member]?.send(SIGSTOP)
    }

    private func kill(_ member: Member) async throws {
        guard let process = processes[member] else { return }
        tally.kills += 1
        note(member, isAvailable: false)
        try await process.send(SIGKILL)
        let end = await process.end
        if end != .signalled(SIGKILL), !isFenced(member, end) {
            surprises.append("\(process.name) ended before it was killed: \(end)")
        }
        await arena.progress.unfollow(process.name)
    }

    private func note(_ member: Member, isAvailable: Bool) {
        let process: AvailabilityChange.Process
        switch member {
        case .broker: process = .broker
        case .coordinator(let number): process = .coordinator(number)
        case .publisher, .visitor, .subscriber, .consumer, .worker: return
        }
        changes.append(AvailabilityChange(time: Self.now, process: process, isAvailable: isAvailable))
    }
}

/// A process of a round, independent of its incarnation.
package enum Member: Hashable, Sendable {
    case broker
    case publisher(Int)
    /// Uses sessions of the coordinators.
    case visitor(Int)
    case subscriber(Int)
    /// The only consumer of its group.
    case consumer
    /// Shares a group with the other workers.
    case worker(Int)
    /// Shares the sessions with the other coordinators.
    case coordinator(Int)

    static let coordinators: [Member] = (1...4).map(Member.coordinator)

    package static let all: [Member] =
        [
            .broker, .publisher(1), .publisher(2), .visitor(1), .visitor(2), .subscriber(1), .subscriber(2), .consumer,
            .worker(1), .worker(2),
        ] + coordinators

    package var name: String {
        switch self {
        case .broker: "broker"
        case .publisher(let number): "publisher\(number)"
        case .visitor(let number): "visitor\(number)"
        case .subscriber(let number): "subscriber\(number)"
        case .consumer: "consumer"
        case .worker(let number): "worker\(number)"
        case .coordinator(let number): "coordinator\(number)"
        }
    }

    /// The name of its durable consumer; nil if it is not a consumer of values. Each group handles all values.
    package var group: String? {
        switch self {
        case .consumer: "exclusive"
        case .worker: "shared"
        case .broker, .publisher, .visitor, .subscriber, .coordinator: nil
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
