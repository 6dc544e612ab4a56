extension ServiceRunner {
    var probe: HealthProbe? {
        if case .probe(let probe) = service.readiness { probe } else { nil }
    }

    /// Checks the service for as long as it runs, one check after the other.
    ///
    /// - Returns: why it is to be ended, if it is; `nil` when the task is cancelled.
    func followHealth(_ probe: HealthProbe) async -> Fault? {
        let start = ContinuousClock.now
        var state = HealthState(probe: probe)
        while true {
            try? await Task.sleep(for: state.pause(at: start.duration(to: .now)))
            if Task.isCancelled { return nil }
            let age = start.duration(to: .now)
            let failure = await failure(of: probe)
            // A check that was broken off says nothing of the service.
            if Task.isCancelled { return nil }
            state.take(failure, at: age)
            if let fault = judge(state.health) { return fault }
        }
    }

    private func failure(of probe: HealthProbe) async -> String? {
        // The check must not speak for the service on its socket.
        let variables = variables.filter { !ServiceEnvironment.notificationVariables.contains($0.key) }
        do {
            let configuration = try configuration(of: probe.command, as: "healthcheck", variables: variables)
            return await HealthCheck(configuration: configuration, timeout: probe.timeout).run()
        } catch {
            return error.message
        }
    }

    /// Shows how healthy the service is, and decides whether it is to be ended.
    ///
    /// One that was never healthy has not started. Later it is ended only to be started again: without a restart policy
    /// a service that answers badly is better than none.
    private func judge(_ health: ServiceHealth) -> Fault? {
        var wasReady = false
        board.change(name) { status in
            status.health = health
            switch (health.state, status.state) {
            case (.healthy, .starting), (.healthy, .running): (status.state, status.wasReady) = (.ready, true)
            case (.unhealthy, .ready): status.state = .running
            default: break
            }
            wasReady = status.wasReady
        }
        guard health.state == .unhealthy, !wasReady || service.restart != .no else { return nil }
        return .unhealthy(health.reason)
    }
}
