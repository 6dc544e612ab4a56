package import Foundation

/// Something that has happened in a project: to one of its services, or to all of it.
package struct ProjectEvent: Sendable, Equatable {
    package enum Action: String, Sendable, Codable, CaseIterable {
        /// The supervisor has begun its work; its process is `pid`.
        case supervisorStarted = "supervisor_started"
        /// Every service has come as far as is waited for.
        case up
        case supervisorEnded = "supervisor_ended"
        /// The instance is part of the project from now on.
        case created
        /// Its process runs, as `pid`.
        case starting
        case ready
        case healthy
        case unhealthy
        /// It was asked to end, or said that it does.
        case stopping
        /// Its process has ended.
        case exited
        /// It is started again by its policy, after a pause.
        case restarting
        /// It stays ended until somebody starts it.
        case stopped
        case failed
        /// The instance is no part of the project any more.
        case removed
    }

    package let time: Date
    package let action: Action
    /// The service that the instance is of.
    package var service: String?
    package var instance: String?
    package var pid: Int32?
    /// What else is known, by name: `reason`, `exitCode`, `signal`, `restarts`, and in seconds `after` and `pause`.
    package var attributes: [String: String] = [:]

    init(_ action: Action, time: Date) {
        self.action = action
        self.time = time
    }
}
