package import Foundation

/// How one service of a running project is.
package struct ServiceStatus: Sendable, Codable, Equatable {
    package enum State: String, Sendable, Codable {
        /// Not started yet: it waits for those it depends on.
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

    package let service: String
    package internal(set) var state: State = .created
    /// Of the leader of its session, while that lives.
    package internal(set) var process: ProcessIdentity?
    /// Of the last run that ended by exiting.
    package internal(set) var exitCode: Int32?
    /// Of the last run that ended by a signal.
    package internal(set) var signal: Int32?
    /// Since the supervisor started.
    package internal(set) var restarts = 0
    /// Of the present or the last run.
    package internal(set) var startedAt: Date?
    /// What the service says of itself (`STATUS=` of sd_notify), or why it failed.
    package internal(set) var message: String?

    /// What its checks say of the present run; `nil` when it has none, or does not run.
    package internal(set) var health: ServiceHealth?
    /// Why the supervisor ended the last run, if that was its decision.
    package internal(set) var fault: String?

    /// Whether the present or last run has said that it is ready, whatever became of it since.
    package internal(set) var wasReady = false

    package var pid: Int32? { process?.pid }
    package var isFinished: Bool { state == .exited || state == .failed }

    enum Prospect {
        case met
        case pending
        /// It has ended for good without meeting the condition.
        case impossible
    }

    /// How it stands with a condition that another service waits for.
    func prospect(of condition: Dependency.Condition) -> Prospect {
        switch (condition, state) {
        case (_, .failed): .impossible
        case (.started, _): startedAt == nil ? .pending : .met
        case (.healthy, .ready): .met
        case (.healthy, .exited): .impossible
        case (.completed, .exited): exitCode == 0 ? .met : .impossible
        case (.healthy, _), (.completed, _): .pending
        }
    }
}
