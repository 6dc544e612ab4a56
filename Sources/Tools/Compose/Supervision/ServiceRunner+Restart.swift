import Logging

extension ServiceRunner {
    /// Settles what becomes of the service after a run, and waits out the backoff if it is to run again.
    func shouldRestart(after ending: Ending, attempts: Int, isFirstStart: Bool) async -> Bool {
        switch ending {
        case .stopped:
            board.settle(name)
            return false
        case .failed(let error):
            board.fail(name, with: error)
            return false
        case .faulty(let fault, wasReady: false) where isFirstStart:
            board.fail(name, with: await notReady(fault.description))
            return false
        case .faulty:
            return await restart(succeeded: false, attempts: attempts, neverReady: false)
        case .exited(let succeeded, let wasReady):
            let neverReady = awaitsReadiness && isFirstStart && !wasReady
            return await restart(succeeded: succeeded, attempts: attempts, neverReady: neverReady)
        }
    }

    private func restart(succeeded: Bool, attempts: Int, neverReady: Bool) async -> Bool {
        guard service.restart.restarts(succeeded: succeeded, attempts: attempts) else {
            if neverReady {
                board.fail(name, with: await notReady("\(lastExit) before it was ready"))
            } else {
                board.settle(name)
                if !succeeded, options.abortsOnFailure { abort() }
            }
            return false
        }
        let delay = backoff.delay(attempts: attempts)
        let metadata: Logger.Metadata = ["service": "\(name)", "ended": "\(lastExit)", "in": "\(delay)"]
        logger.notice("restarting a service", metadata: metadata)
        board.change(name) { ($0.state, $0.pause) = (.restarting, delay / .seconds(1)) }
        await waitForStop(atMost: delay)
        if !board.view.isToEnd(name) { return true }
        board.settle(name)
        return false
    }

    private func waitForStop(atMost delay: Duration) async {
        await withTaskGroup { group in
            group.addTask { _ = await board.first { $0.isToEnd(name) } }
            group.addTask { try? await Task.sleep(for: delay) }
            await group.next()
            group.cancelAll()
        }
    }

    /// The failure of one service is the end of all, where that is asked for.
    private func abort() {
        let error = ComposeError(code: "service-failed", message: "service '\(name)' \(lastExit)")
        board.update { $0.giveUp(because: error) }
    }

    private func notReady(_ reason: String) async -> ComposeError {
        ComposeError(
            code: "not-ready",
            message: "service '\(name)' \(reason)",
            recovery: "'segue logs \(name)' tells more",
            logTail: await log.tail
        )
    }

    private var lastExit: String {
        let status = board.view[name]
        if let signal = status?.signal { return "ended by \(StopSignal.name(of: signal))" }
        return "exited with status \(status?.exitCode ?? 0)"
    }
}
