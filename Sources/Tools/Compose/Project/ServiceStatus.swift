package import Foundation

/// How one instance of a service of a running project is.
package struct ServiceStatus: Sendable, Codable, Equatable {
    package enum State: String, Sendable, Codable, CaseIterable {
        /// Not started yet: it waits for those it depends on, or nobody wants it.
        case created
        /// Its process runs and is expected to become ready.
        case starting
        /// It has said that it is ready.
        case ready
        /// Its process runs; nobody waits for it to say that it is ready.
        case running
        /// It ended and will be started again.
        case restarting
        /// It was asked to stop, or said that it is stopping.
        case stopping
        /// It ended and stays so.
        case exited
        /// It could not be started, or did not become ready.
        case failed
    }

    /// What it is called in logs and for commands: the service's name, with a number behind it where there are several.
    package let name: String
    package let service: String
    /// Which of the service's instances it is, counted from 1.
    let replica: Int
    package internal(set) var order = InstanceOrder()
    /// The ``InstanceOrder/round`` that all below speaks of.
    package internal(set) var round = 0
    package internal(set) var state: State = .created
    /// Of the leader of its session, while that lives.
    package internal(set) var process: ProcessIdentity?
    /// Of the last run that ended by exiting.
    package internal(set) var exitCode: Int32?
    /// Of the last run that ended by a signal.
    package internal(set) var signal: Int32?
    /// By its restart policy, since the supervisor started.
    package internal(set) var restarts = 0
    /// Of the present or the last run.
    package internal(set) var startedAt: Date?
    /// What the service says of itself (`STATUS=` of sd_notify), or why it failed.
    package internal(set) var message: String?
    /// Why it could not be started, or did not become ready.
    package internal(set) var failure: ComposeError?
    /// Whether it is waited for until it says that it is ready.
    var awaitsReadiness = false
    /// What its checks say of the present run; `nil` when it has none, or does not run.
    package internal(set) var health: ServiceHealth?
    /// How many seconds its restart waits.
    package internal(set) var pause: Double?
    /// Why the supervisor ended the last run, if that was its decision.
    package internal(set) var fault: String?
    /// Whether the present or last run has said that it is ready, whatever became of it since.
    var wasReady = false

    init(name: String, service: String, replica: Int = 1) {
        self.name = name
        self.service = service
        self.replica = replica
    }

    package var pid: Int32? { process?.pid }
    package var isFinished: Bool { state == .exited || state == .failed }

    /// Whether it has run, and will not again unless somebody starts it.
    package var hasEnded: Bool {
        order.isWanted ? isFinished && round == order.round : round > 0 && !isActive
    }

    /// Whether it has a process, or is about to have one.
    var isActive: Bool {
        switch state {
        case .starting, .ready, .running, .stopping: true
        case .created, .restarting, .exited, .failed: false
        }
    }

    /// Whether it has come as far in its present round as somebody who starts it waits for.
    package var isUp: Bool { hasReached(.ready) }

    /// Whether it has come so far in its present round, or to its end.
    func hasReached(_ milestone: Milestone) -> Bool {
        guard round == order.round else { return false }
        return isFinished || (awaitsReadiness && milestone == .ready ? state == .ready : startedAt != nil)
    }

    /// The status at the beginning of the round that was asked for: nothing of an earlier one shows but its restarts.
    init(beginning previous: ServiceStatus, awaitsReadiness: Bool) {
        self.init(name: previous.name, service: previous.service, replica: previous.replica)
        order = previous.order
        round = order.round
        order.begin()
        restarts = previous.restarts
        state = .starting
        self.awaitsReadiness = awaitsReadiness
    }

    enum Prospect {
        case met
        case pending
        /// It will not meet the condition unless somebody starts it again.
        case impossible
    }

    /// How it stands with a condition that another service waits for.
    func prospect(of condition: Dependency.Condition) -> Prospect {
        guard order.isWanted else { return .impossible }
        // What an earlier round came to says nothing of the one that was asked for.
        guard round == order.round else { return .pending }
        return switch (condition, state) {
        case (_, .failed): .impossible
        case (.started, _): startedAt == nil ? .pending : .met
        case (.healthy, .ready): .met
        case (.healthy, .exited): .impossible
        case (.completed, .exited): exitCode == 0 ? .met : .impossible
        case (.healthy, _), (.completed, _): .pending
        }
    }
}

/// What the health checks of a service's present run have shown.
package struct ServiceHealth: Sendable, Codable, Equatable {
    package enum State: String, Sendable, Codable {
        /// No check has succeeded yet, and too few have failed.
        case starting
        case healthy
        case unhealthy
    }

    package internal(set) var state = State.starting
    /// Failed checks since the last that succeeded; those of the start period do not count.
    package internal(set) var failures = 0
    /// What the last check that failed had to say.
    package internal(set) var reason: String?
}

/// What is wanted of an instance, whatever it does at the moment.
package struct InstanceOrder: Sendable, Codable, Equatable {
    /// One that was stopped stays so, whatever its restart policy, until somebody starts it again.
    package private(set) var isWanted = false
    /// How often it was asked to start. A process of an earlier round has to end, and one of this round to follow it.
    package private(set) var round = 0
    /// Whether nothing of the instance shall be left.
    private(set) var isRemoved = false
    /// Whether it starts without a look at those that it depends on.
    private(set) var ignoresDependencies = false
    /// What its process is granted when it is asked to end, if not the service's own grace.
    private(set) var grace: Duration?

    mutating func start(ignoresDependencies: Bool = false, grace: Duration? = nil) {
        isWanted = true
        round += 1
        isRemoved = false
        self.ignoresDependencies = ignoresDependencies
        self.grace = grace
    }

    /// The grace was for those that had to end before.
    mutating func begin() {
        grace = nil
    }

    mutating func ignoreDependencies() {
        ignoresDependencies = true
    }

    mutating func stop(grace: Duration?) {
        isWanted = false
        self.grace = grace
    }

    mutating func remove(grace: Duration?) {
        stop(grace: grace)
        isRemoved = true
    }
}

/// How far services must have come before whoever starts them goes on.
package enum Milestone: Sendable {
    /// The process of each has been started, after those that it has to wait for.
    case launched
    /// Each runs, and is ready where that is expected.
    case ready
}
