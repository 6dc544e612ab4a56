import Subprocess
import Support

/// One run of a probe's command.
struct HealthCheck: Sendable {
    /// The maximum size of the kept output in bytes. If there is more output, its end is kept.
    private static let outputLimit = 2048

    let configuration: Configuration
    let timeout: Duration
    let clock: RunningClock

    /// Runs the command, and returns when no process is left in its session. Cancelling the task kills these processes.
    ///
    /// - Returns: the reason why the check failed; nil if it succeeded.
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
            return "cannot run the check: \(error)"
        }
    }

    private func attend(
        _ session: ProcessSession, output: SubprocessOutputSequence
    ) async -> (hasTimedOut: Bool, output: [UInt8]) {
        await withTaskGroup(of: [UInt8].self) { group in
            group.addTask { await Self.end(of: output) }
            let hasTimedOut = await isLate(session)
            // Also kills the processes that the command has started in its session.
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
                try? await clock.sleep(for: timeout)
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
            // The exit status decides the result. An incomplete output is enough for the reason.
        }
        return end
    }

    private func failure(of status: TerminationStatus, hasTimedOut: Bool, output: [UInt8]) -> String? {
        let ending: String
        switch status {
        case _ where hasTimedOut: ending = "the check took longer than \(timeout)"
        case .exited(0): return nil
        default: ending = status.summary
        }
        let lines = String(decoding: output, as: UTF8.self).lines.filter { !$0.isEmpty }
        return ([ending] + lines.suffix(3).map(String.init)).joined(separator: ": ")
    }
}

/// Derives a service's health from the checks of one run, by the rules of the compose specification.
struct HealthState {
    private let probe: HealthProbe
    private(set) var health = ServiceHealth()

    init(probe: HealthProbe) {
        self.probe = probe
    }

    /// The pause before the next check.
    ///
    /// - Parameter age: the time since the run began.
    func pause(at age: Duration) -> Duration {
        isStarting(at: age) ? probe.startInterval : probe.interval
    }

    /// Applies the result of a check.
    ///
    /// - Parameters:
    ///   - failure: the reason why the check failed; nil if it succeeded.
    ///   - age: the time from the start of the run to the start of the check.
    mutating func apply(_ failure: String?, at age: Duration) {
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

    /// True during the start period, which the first success ends early.
    private func isStarting(at age: Duration) -> Bool {
        health.state == .starting && age < probe.startPeriod
    }
}
