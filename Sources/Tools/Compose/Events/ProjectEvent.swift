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

    /// What has happened between two states of a project, in the order in which it does.
    ///
    /// - Parameter before: `nil` at the beginning of a supervisor's work.
    static func changes(from before: ProjectStatus?, to after: ProjectStatus, at time: Date) -> [ProjectEvent] {
        var events: [ProjectEvent] = []
        if before == nil {
            var event = ProjectEvent(.supervisorStarted, time: time)
            event.pid = after.supervisor.pid
            events.append(event)
        }
        // By name, as a search for each would cost the square of their number at every change.
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
        from before: ServiceStatus?, to after: ServiceStatus, at time: Date
    ) -> [ProjectEvent] {
        var actions: [Action] = before == nil ? [.created] : []
        // One process may have taken the place of another since the last look.
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

    private init(_ action: Action, of status: ServiceStatus, time: Date) {
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
            attributes["pause"] = status.pause.map { Duration.seconds($0).secondsText }
            attributes["restarts"] = String(status.restarts)
        case .exited:
            attributes["exitCode"] = status.exitCode.map { String($0) }
            attributes["signal"] = status.signal.map { StopSignal.name(of: $0) }
            attributes["reason"] = status.fault
        default: break
        }
    }
}

/// In the files of a project an event is the text of a log's line, which has the time.
extension ProjectEvent {
    /// The name of the log that all of a project's events are written to.
    static let logName = "events"

    private struct Body: Codable {
        let action: Action
        let service: String?
        let instance: String?
        let pid: Int32?
        let attributes: [String: String]
    }

    /// - Returns: `nil` for what is no event, or one that a later version writes.
    init?(_ line: LogLine) {
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(line.text.utf8)) else { return nil }
        self.init(body.action, time: line.timestamp)
        (service, instance, pid, attributes) = (body.service, body.instance, body.pid, body.attributes)
    }

    /// - Throws: `EncodingError`.
    func record() throws -> [UInt8] {
        let body = Body(action: action, service: service, instance: instance, pid: pid, attributes: attributes)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return LogRecord.bytes(
            time: LogRecord.time(time), stream: .notice, text: try encoder.encode(body), continues: false)
    }
}
