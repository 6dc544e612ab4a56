import Subprocess

/// One run of a probe's command.
struct HealthCheck: Sendable {
    /// What is kept of its output: the end, where the reason mostly stands.
    private static let outputLimit = 2048

    let configuration: Configuration
    let timeout: Duration

    /// Returns when no process of the check is left. Cancelling kills them.
    ///
    /// - Returns: why it failed; `nil` when it succeeded.
    func run() async -> String? {
        do {
            let result = try await Subprocess.run(
                configuration, input: .none, output: .sequence, error: .combinedWithOutput
            ) { execution in
                await attend(
                    ProcessSession(id: execution.processIdentifier.value), output: execution.standardOutput)
            }
            let (hasTimedOut, output) = result.closureResult
            return failure(of: result.terminationStatus, hasTimedOut: hasTimedOut, output: output)
        } catch {
            return "cannot be run: \(error)"
        }
    }

    private func attend(
        _ session: ProcessSession, output: SubprocessOutputSequence
    ) async -> (hasTimedOut: Bool, output: [UInt8]) {
        await withTaskGroup(of: [UInt8].self) { group in
            // Ends by itself at the end of the output, or of the leader.
            group.addTask { await Self.end(of: output) }
            let hasTimedOut = await isLate(session)
            // Whatever it has started goes with it: nothing of a check outlives its verdict.
            await session.kill()
            return (hasTimedOut, await group.next() ?? [])
        }
    }

    private func isLate(_ session: ProcessSession) async -> Bool {
        await firstResult(
            of: {
                await session.waitForLeader()
                return false
            },
            {
                try? await Task.sleep(for: timeout)
                return !Task.isCancelled
            })
    }

    private static func end(of output: SubprocessOutputSequence) async -> [UInt8] {
        var end: [UInt8] = []
        do {
            for try await buffer in output {
                end += buffer.withUnsafeBytes { Array($0) }
                end.removeFirst(max(0, end.count - outputLimit))
            }
        } catch {
            // The verdict is the status; what could be read of the reason is enough.
        }
        return end
    }

    private func failure(of status: TerminationStatus, hasTimedOut: Bool, output: [UInt8]) -> String? {
        let ending: String
        switch status {
        case _ where hasTimedOut: ending = "took longer than \(timeout)"
        case .exited(0): return nil
        default: ending = status.summary
        }
        let lines = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline)
        return ([ending] + lines.suffix(3).map(String.init)).joined(separator: ": ")
    }
}

/// What follows from the checks of one run of a service: the rules of the compose specification, and nothing else.
struct HealthState {
    private let probe: HealthProbe
    private(set) var health = ServiceHealth()

    init(probe: HealthProbe) {
        self.probe = probe
    }

    /// How long to wait before the next check.
    ///
    /// - Parameter age: the time since the run began.
    func pause(at age: Duration) -> Duration {
        isStarting(at: age) ? probe.startInterval : probe.interval
    }

    /// - Parameters:
    ///   - failure: why the check failed; `nil` when it succeeded.
    ///   - age: the time since the run began, at the beginning of the check.
    mutating func take(_ failure: String?, at age: Duration) {
        guard let failure else {
            health = ServiceHealth(state: .healthy)
            return
        }
        let counts = !isStarting(at: age)
        health.reason = failure
        guard counts else { return }
        health.failures += 1
        if health.failures >= max(probe.retries, 1) { health.state = .unhealthy }
    }

    /// The start period ends with the first success.
    private func isStarting(at age: Duration) -> Bool {
        health.state == .starting && age < probe.startPeriod
    }
}
