import Glibc

extension Project {
    /// Takes the project down from another process; returns when none of its processes is left.
    ///
    /// - Parameter timeout: how long all may take; after that the supervisor is killed, and what it leaves.
    /// - Returns: whether anything was running.
    /// - Throws: ``ComposeError`` `supervisor-unknown` when someone holds the lock who cannot be found.
    @discardableResult
    package func stop(timeout: Duration = .seconds(60)) async throws -> Bool {
        let deadline = ContinuousClock.now + timeout
        var wasRunning = false
        while true {
            try Task.checkCancellation()
            if let lock = try ProjectLock.acquire(self) {
                let left = try await stopLeftovers(holding: lock, until: deadline)
                return wasRunning || left
            }
            wasRunning = true
            if let supervisor = try ProjectStatus.read(self)?.supervisor.open() {
                await stop(supervisor, until: deadline)
            } else {
                // One that has just started holds the lock before it has written its name down.
                try checkPatience(until: deadline)
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Asks another process's supervisor to stop; asked again, it skips what is left of everyone's grace.
    ///
    /// - Returns: whether there is one.
    @discardableResult
    package func requestStop() throws(ComposeError) -> Bool {
        guard let supervisor = try ProjectStatus.read(self)?.supervisor.open() else { return false }
        supervisor.send(SIGTERM)
        return true
    }

    /// Ends what a killed supervisor left of some services; returns when none of their processes is left.
    ///
    /// - Returns: whether there was any.
    /// - Throws: ``ComposeError`` `already-running` when there is a supervisor again.
    package func stopUnsupervised(_ services: [String], grace: Duration?) async throws(ComposeError) -> Bool {
        guard let lock = try ProjectLock.acquire(self) else {
            throw ComposeError(
                code: "already-running", message: "project '\(name)' is just being started", recovery: "try again")
        }
        let left = try await stopLeftovers(named: services, grace: grace ?? .seconds(10))
        lock.release()
        return left
    }

    private func stop(_ supervisor: ProcessHandle, until deadline: ContinuousClock.Instant) async {
        supervisor.send(SIGTERM)
        let hasEnded = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await supervisor.waitForExit()
                return !Task.isCancelled
            }
            group.addTask {
                try? await Task.sleep(until: deadline, clock: .continuous)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        guard !hasEnded, !Task.isCancelled else { return }
        supervisor.send(SIGKILL)
        await supervisor.waitForExit()
    }

    private func stopLeftovers(
        holding lock: consuming ProjectLock, until deadline: ContinuousClock.Instant
    ) async throws(ComposeError) -> Bool {
        let rest = max(.zero, ContinuousClock.now.duration(to: deadline))
        let left = try await stopLeftovers(grace: min(.seconds(10), rest))
        removeRuntimeDirectory()
        lock.release()
        return left
    }

    private func checkPatience(until deadline: ContinuousClock.Instant) throws(ComposeError) {
        guard ContinuousClock.now >= deadline else { return }
        throw ComposeError(
            code: "supervisor-unknown",
            message: "a process that is not recorded in \(statusPath) holds \(lockPath)",
            recovery: "find it with 'fuser \(lockPath)'"
        )
    }
}
