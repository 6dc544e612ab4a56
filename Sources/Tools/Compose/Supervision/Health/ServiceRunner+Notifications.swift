extension ServiceRunner {
    /// Takes in what the service says of itself, for as long as it runs.
    ///
    /// - Returns: why it is to be ended, if it is; `nil` when the task is cancelled.
    func followNotifications(_ socket: NotifySocket, deadline: ContinuousClock.Instant) async -> Fault? {
        let now = SuspendingClock.now
        var deadlines = RunDeadlines(
            start: awaitsReadiness ? now + ContinuousClock.now.duration(to: deadline) : nil, timeout: startTimeout,
            watchdog: service.watchdog, now: now)
        while !Task.isCancelled {
            // All that has come is read before anything is found late: it may be us who were held up.
            while let message = socket.receive() {
                take(message)
                deadlines.take(message, at: .now)
            }
            let state = board.view.status[name]?.state ?? .stopping
            if let fault = deadlines.fault(of: state, at: .now) { return fault }
            await socket.wait(until: deadlines.next)
        }
        return nil
    }

    func take(_ message: NotifyMessage) {
        board.change(name) { status in
            // Where a check decides, the service's own word is not enough.
            if message.isReady, probe == nil {
                status.state = .ready
                status.wasReady = true
            }
            if message.isStopping { status.state = .stopping }
            status.message = message.status ?? status.message
        }
    }
}
