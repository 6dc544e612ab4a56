package import Foundation
import Subprocess

/// The status of one instance of a service.
package struct InstanceStatus: Sendable, Codable, Equatable {
    package enum State: String, Sendable, Codable, CaseIterable {
        /// The instance has not been started: it waits for its dependencies, or has not been requested.
        case created
        /// The instance's process is being started, or runs and is expected to become ready.
        case starting
        /// The instance has announced that it is ready, or its health check has succeeded.
        case ready
        /// The instance's process runs. It need not become ready, or has become unhealthy after it was ready.
        case running
        /// The instance has ended and will be started again.
        case restarting
        /// The instance was asked to stop, or announced that it is stopping, or its main process has ended before the
        /// processes that it started.
        case stopping
        /// The instance has ended, and stays ended until a request starts it.
        case exited
        /// The instance could not be started, or did not become ready.
        case failed
    }

    /// The instance's name in logs and commands: the service's name, or the service's name and a number (see
    /// ``Service/instanceName(_:)``).
    package let name: String
    package let service: String
    /// The number of the instance within its service, counted from 1.
    let replica: Int
    package internal(set) var order = InstanceOrder()
    /// The last ``InstanceOrder/round`` that was begun, or refused because of a dependency.
    package internal(set) var round = 0
    package internal(set) var state: State = .created
    /// The main process, which leads the instance's session; nil if it does not run.
    package internal(set) var process: ProcessIdentity?
    /// The exit status of the last ended run in this round; nil if a signal ended that run, or if no run has ended.
    package internal(set) var exitCode: Int32?
    /// The signal that ended the last ended run in this round; nil if that run exited, or if no run has ended.
    package internal(set) var signal: Int32?
    /// The number of restarts by the restart policy since the supervisor started.
    package internal(set) var restarts = 0
    /// The start of the current or last run in this round; nil if there was none.
    package internal(set) var startedAt: Date?
    /// The status text that the service has sent (`STATUS=` of sd_notify(3)), or the reason for the instance's failure;
    /// nil if there is neither.
    package internal(set) var message: String?
    /// The reason why the instance could not be started or did not become ready; nil if it has not failed.
    package internal(set) var failure: ComposeError?
    /// True if the instance is expected to become ready, and not only to run.
    var awaitsReadiness = false
    /// True if a run in this round has lasted for half a second, or has ended and a restart is planned.
    var hasSettled = false
    /// The result of the health checks of the current run; nil if the instance has no health check or does not run.
    package internal(set) var health: ServiceHealth?
    /// The pause before the next restart, in seconds; nil from the start of a run until a restart is planned.
    package internal(set) var pause: Double?
    /// The reason why the supervisor ended the run without a request; nil if it did not.
    package internal(set) var fault: String?
    /// True if the current or last run has been ready at any time.
    var wasReady = false

    init(name: String, service: String, replica: Int = 1) {
        self.name = name
        self.service = service
        self.replica = replica
    }

    package var pid: Int32? { process?.pid }
    package var isFinished: Bool { state == .exited || state == .failed }

    /// True if the instance has ended or failed, and will not run again unless a request starts it.
    package var hasEnded: Bool {
        order.isWanted ? isFinished && round == order.round : round > 0 && !isActive
    }

    /// The exit status of its last run, as a shell reports it: 128 + the signal's number if a signal ended it; nil if
    /// no run has ended.
    package var exitStatus: Int32? { signal.map { 128 + $0 } ?? exitCode }

    /// The error for an instance whose last run ended with another status than 0 or by a signal; nil otherwise.
    var badEnding: ComposeError? {
        guard let exitStatus, exitStatus != 0 else { return nil }
        let ending = signal.map { TerminationStatus.signaled($0) } ?? .exited(exitStatus)
        return ComposeError(
            code: "service-failed", message: "service '\(name)' \(ending.summary)",
            recovery: "see 'segue logs \(name)'", exitStatus: exitStatus)
    }

    /// True if the instance has a process, or its process is being started.
    var isActive: Bool {
        switch state {
        case .starting, .ready, .running, .stopping: true
        case .created, .restarting, .exited, .failed: false
        }
    }

    /// True if the instance has become ready or has ended in the round that was last requested.
    package var isUp: Bool { hasReached(.ready) }

    /// True if the instance has reached a milestone or has ended in the round that was last requested.
    func hasReached(_ milestone: Milestone) -> Bool {
        guard round == order.round else { return false }
        if isFinished { return true }
        return switch milestone {
        case .launched: startedAt != nil
        case .ready: awaitsReadiness ? state == .ready : hasSettled
        }
    }

    /// The status at the beginning of the requested round. Only the number of restarts is kept from earlier rounds.
    init(beginning previous: InstanceStatus, awaitsReadiness: Bool) {
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
        /// The instance cannot meet the condition unless a request starts it again.
        case impossible
    }

    /// The prospect that this instance meets a condition on which another service waits.
    func prospect(of condition: Dependency.Condition) -> Prospect {
        guard order.isWanted else { return .impossible }
        // The result of an earlier round does not count for the requested round.
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

/// The results of the health checks of an instance's current run.
package struct ServiceHealth: Sendable, Codable, Equatable {
    package enum State: String, Sendable, Codable {
        /// No check has succeeded yet, and fewer than `retries` checks have failed after the start period.
        case starting
        case healthy
        case unhealthy
    }

    package internal(set) var state = State.starting
    /// The number of failed checks since the last success. Checks in the start period do not count until a check has
    /// succeeded.
    package internal(set) var failures = 0
    /// The reason why the last check failed; nil if it succeeded or there was none.
    package internal(set) var reason: String?
}

/// The requested state of an instance, which can differ from its actual state.
package struct InstanceOrder: Sendable, Codable, Equatable {
    /// True if the instance is to run. An instance that was stopped stays stopped, whatever its restart policy, until a
    /// request starts it.
    package private(set) var isWanted = false
    /// The number of requests to start the instance. A process of an earlier round must end; then a process of this
    /// round is started.
    package private(set) var round = 0
    /// True if the instance is to be removed from the project.
    private(set) var isRemoved = false
    /// True if the instance starts without waiting for its dependencies.
    private(set) var ignoresDependencies = false
    /// The grace period that a request has set for the instance's process; nil if no request has set one.
    private(set) var grace: Duration?

    mutating func start(ignoresDependencies: Bool = false, grace: Duration? = nil) {
        isWanted = true
        round += 1
        isRemoved = false
        self.ignoresDependencies = ignoresDependencies
        self.grace = grace
    }

    /// Resets the grace period, which applied to the process of the earlier round.
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

/// The point that services must reach before a start is complete.
package enum Milestone: Sendable {
    /// Each process has been started.
    case launched
    /// Each instance has become ready, or has run for a moment if it is not expected to become ready.
    case ready
}
