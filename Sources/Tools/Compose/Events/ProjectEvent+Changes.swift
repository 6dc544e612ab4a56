import Foundation

extension ProjectEvent {
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
        case .ready: attributes["after"] = status.startedAt.map { Self.seconds(time.timeIntervalSince($0)) }
        case .unhealthy: attributes["reason"] = status.health?.reason
        case .stopping: attributes["reason"] = status.fault
        case .failed: attributes["reason"] = status.message
        case .restarting:
            attributes["pause"] = status.pause.map { Self.seconds($0) }
            attributes["restarts"] = String(status.restarts)
        case .exited:
            attributes["exitCode"] = status.exitCode.map { String($0) }
            attributes["signal"] = status.signal.map { StopSignal.name(of: $0) }
            attributes["reason"] = status.fault
        default: break
        }
    }

    private static func seconds(_ interval: Double) -> String {
        String(format: "%.3f", max(0, interval))
    }
}
