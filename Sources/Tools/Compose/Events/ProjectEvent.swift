package import Foundation

/// An event of one instance, or of the project as a whole. Its encoded form has no time.
package struct ProjectEvent: Sendable, Equatable, Codable {
    package enum Action: String, Sendable, Codable, CaseIterable {
        /// The supervisor has started; its process is `pid`.
        case supervisorStarted = "supervisor_started"
        /// Every requested service has become ready or has ended.
        case up
        case supervisorEnded = "supervisor_ended"
        /// The instance has been added to the project.
        case created
        /// The instance's process has been started, as `pid`.
        case starting
        case ready
        case healthy
        case unhealthy
        /// The instance was asked to end, or announced that it is ending, or its main process has ended before the
        /// processes that it started.
        case stopping
        /// The instance's process has ended.
        case exited
        /// The instance will be started again: by its restart policy after a pause, or because a request demands it.
        case restarting
        /// The instance has ended, and stays ended until a request starts it.
        case stopped
        case failed
        /// The instance has been removed from the project.
        case removed
    }

    private enum CodingKeys: CodingKey {
        case action, service, instance, pid, attributes
    }

    package private(set) var time = Date.distantPast
    package let action: Action
    /// The instance's service. Nil, like `instance`, for an event of the whole project.
    package var service: String?
    package var instance: String?
    package var pid: Int32?
    /// Details by name: `reason`, `exitCode`, `signal`, `restarts`, and in seconds `after` and `pause`.
    package var attributes: [String: String] = [:]

    init(_ action: Action, time: Date) {
        self.action = action
        self.time = time
    }

    /// The events that lead from one status of a project to the next, in order.
    ///
    /// - Parameter before: nil if `after` is the first status that a supervisor records.
    static func changes(from before: ProjectStatus?, to after: ProjectStatus, at time: Date) -> [ProjectEvent] {
        var events: [ProjectEvent] = []
        if before == nil {
            var event = ProjectEvent(.supervisorStarted, time: time)
            event.pid = after.supervisor.pid
            events.append(event)
        }
        let earlier = Dictionary((before?.services ?? []).map { ($0.name, $0) }) { first, _ in first }
        for service in after.services {
            events += changes(from: earlier[service.name], to: service, at: time)
        }
        let present = Set(after.services.map(\.name))
        for service in before?.services ?? [] where !present.contains(service.name) {
            events.append(ProjectEvent(.removed, of: service, time: time))
        }
        guard before?.phase != after.phase else { return events }
        switch after.phase {
        case .up: events.append(ProjectEvent(.up, time: time))
        case .stopped: events.append(ProjectEvent(.supervisorEnded, time: time))
        case .starting, .stopping: break
        }
        return events
    }

    private static func changes(
        from before: InstanceStatus?, to after: InstanceStatus, at time: Date
    ) -> [ProjectEvent] {
        var actions: [Action] = before == nil ? [.created] : []
        // Between two recorded statuses, one process may have replaced another.
        if let process = before?.process, process != after.process { actions.append(.exited) }
        if let process = after.process, process != before?.process { actions.append(.starting) }
        if let state = after.health?.state, state != before?.health?.state {
            switch state {
            case .healthy: actions.append(.healthy)
            case .unhealthy: actions.append(.unhealthy)
            case .starting: break
            }
        }
        if after.state != before?.state {
            switch after.state {
            case .ready: actions.append(.ready)
            case .stopping: actions.append(.stopping)
            case .restarting: actions.append(.restarting)
            case .exited: actions.append(.stopped)
            case .failed: actions.append(.failed)
            case .created, .starting, .running: break
            }
        }
        return actions.map { action in
            var event = ProjectEvent(action, of: after, time: time)
            if action == .exited { event.pid = before?.pid }
            return event
        }
    }

    private init(_ action: Action, of status: InstanceStatus, time: Date) {
        self.init(action, time: time)
        service = status.service
        instance = status.name
        pid = status.pid
        switch action {
        case .ready:
            let after = status.startedAt.map { max(0, time.timeIntervalSince($0)) }
            attributes["after"] = after.map { Duration.seconds($0).secondsText }
        case .unhealthy: attributes["reason"] = status.health?.reason
        case .stopping: attributes["reason"] = status.fault
        case .failed: attributes["reason"] = status.message
        case .restarting:
            attributes["pause"] = status.pause.map { Duration.seconds(min(max(0, $0), 86_400)).secondsText }
            attributes["restarts"] = String(status.restarts)
        case .exited:
            attributes["exitCode"] = status.exitCode.map { String($0) }
            attributes["signal"] = status.signal.map { StopSignal.name(of: $0) }
            attributes["reason"] = status.fault
        default: break
        }
    }
}

/// The form of an event in a project's files: a log line whose text is the event as JSON without its time.
extension ProjectEvent {
    /// The name of the log of a project's events.
    static let logName = "events"

    /// Reads an event. Nil if the line is not an event, or has an action that only a later version knows.
    init?(_ line: LogLine) {
        guard let event = try? JSONDecoder().decode(Self.self, from: Data(line.text.utf8)) else { return nil }
        self = event
        time = line.timestamp
    }

    /// The event as the bytes of a log record.
    ///
    /// - Throws: `EncodingError`.
    func record() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return LogRecord.bytes(
            time: LogRecord.time(time), stream: .notice, text: try encoder.encode(self), continues: false)
    }
}
