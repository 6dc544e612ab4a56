import Foundation
import Logging
import Subprocess
import SystemPackage
import SystemSupport

/// Runs an instance from a requested start to its end, including restarts by its policy.
struct ServiceRunner: Sendable {
    /// The name of the instance.
    let name: String
    let service: Service
    let awaitsReadiness: Bool
    /// The folder in which a relative working directory starts.
    let directory: String
    let project: Project
    let board: StatusBoard
    let log: ServiceLog
    /// The tag in the environment of the instance's processes.
    let tag: ProcessTag
    let variables: [String: String]
    let options: SupervisorOptions
    let clock: RunningClock
    let executor: BlockingExecutor
    let logger: Logger

    /// The reason why one run of the process ended.
    private enum Cause: Sendable, Equatable {
        case leaderExited
        case stopRequested
        case faulty(RunFault)
    }

    /// The result of one run of the process.
    private enum Ending: Sendable {
        case exited(succeeded: Bool, wasReady: Bool)
        /// The supervisor ended the process because of a fault.
        case faulty(RunFault, wasReady: Bool)
        /// A request to end the process came before or during the run.
        case stopped
        case failed(ComposeError)
    }

    /// The time after which a process that need not become ready is up.
    private static let settlingTime: Duration = .milliseconds(500)

    func run() async {
        let patience = startTimeout
        var attempts = 0
        var deadline = clock.now + patience
        var wasEverReady = false
        while true {
            let begin = clock.now
            // Until the service has been ready once, all runs share one deadline. After that, each run gets the full
            // time.
            if wasEverReady { deadline = begin + patience }
            let ending = await runOnce(deadline: deadline)
            switch ending {
            case .exited(_, wasReady: true), .faulty(_, wasReady: true): wasEverReady = true
            default: break
            }
            if begin.duration(to: clock.now) >= backoff.resetAfter { attempts = 0 }
            guard await shouldRestart(after: ending, attempts: attempts, isFirstStart: !wasEverReady) else { return }
            attempts += 1
            board.change(name) { $0.restarts += 1 }
        }
    }

    private var backoff: RestartBackoff { service.backoff ?? options.backoff }

    /// The maximum time from the stop signal to the end of the process. After it, the process is killed.
    private var stopGrace: Duration { board.view[name]?.order.grace ?? options.stopGrace ?? service.stopGracePeriod }

    /// The maximum time for the service to become ready. After it, the service is ended.
    private var startTimeout: Duration {
        switch service.readiness {
        case .notify(let timeout?): timeout
        case .probe(let probe): probe.longestStart
        case .notify(nil), .started: options.startTimeout
        }
    }

    /// Runs the process once, until all processes of its session have ended.
    ///
    /// - Parameter deadline: the deadline for becoming ready, if the service is expected to become ready.
    private func runOnce(deadline: RunningClock.Instant) async -> Ending {
        guard board.update({ $0.claimStart(of: name) }) else { return .stopped }
        do {
            let path = try executable(of: service.command, as: "command", variables: variables)
            let configuration = try configuration(of: service.command, at: path, variables: variables)
            // A file that is written after this is a change, even if the process reads it.
            let files = await executor.run { [service] in StartFiles(executable: path, watched: service.watchedPaths) }
            board.update { $0.record(files, of: name) }
            let socket = try project.notifySocket(at: project.notifyPath(of: name))
            let result = try await Subprocess.run(
                configuration, input: .none, output: .sequence, error: .sequence
            ) { execution in
                DescriptorLimit.restore(of: execution.processIdentifier.value)
                return await attend(
                    execution.processIdentifier.value,
                    output: [(.stdout, execution.standardOutput), (.stderr, execution.standardError)],
                    socket: socket,
                    deadline: deadline
                )
            }
            return finish(result.terminationStatus, after: result.closureResult)
        } catch let error as ComposeError {
            return .failed(error)
        } catch {
            board.change(name) { $0.process = nil }
            let key = ServiceKey(service: service.name, name: "command")
            return .failed(
                ComposeError(
                    code: "start-failed", message: "service '\(name)': cannot start '\(service.command[0])': \(error)",
                    recovery: "run it by hand to see why, or correct 'command'", key: key))
        }
    }

    /// The path of a command's executable.
    ///
    /// - Parameter key: the key of the service's entry that contains the command.
    private func executable(
        of command: [String], as key: String, variables: [String: String]
    ) throws(ComposeError) -> String {
        try ExecutableLookup(executableDirectory: options.executableDirectory)
            .executable(
                of: command, as: ServiceKey(service: service.name, name: key),
                workingDirectory: service.existingDirectory(in: directory), searchPath: variables["PATH"])
    }

    /// The configuration for running a command like the service: in its folder, with the given variables, in a new
    /// session.
    ///
    /// - Parameter path: the path of the executable.
    private func configuration(
        of command: [String], at path: String, variables: [String: String]
    ) throws(ComposeError) -> Configuration {
        let folder = try service.existingDirectory(in: directory)
        var platform = PlatformOptions()
        // Ctrl-C in the supervisor's terminal must not reach the service.
        platform.createSession = true
        let pairs = variables.compactMap { key, value in Environment.Key(rawValue: key).map { ($0, value) } }
        return Configuration(
            executable: .path(FilePath(path)),
            arguments: Arguments(
                executablePathOverride: command[0], remainingValues: Array(command.dropFirst())),
            environment: .custom(Dictionary(pairs) { first, _ in first }),
            workingDirectory: FilePath(folder),
            platformOptions: platform
        )
    }

    private func finish(_ status: TerminationStatus, after cause: Cause) -> Ending {
        board.change(name) {
            $0.process = nil
            $0.health = nil
            switch status {
            case .exited(let code): ($0.exitCode, $0.signal) = (code, nil)
            case .signaled(let signal): ($0.exitCode, $0.signal) = (nil, signal)
            }
        }
        let wasReady = board.view[name]?.wasReady ?? false
        switch cause {
        case .stopRequested: return .stopped
        case .faulty(let fault): return .faulty(fault, wasReady: wasReady)
        case .leaderExited:
            // A stop may have been requested after the leader had ended, while its descendants were being ended.
            if board.view.isToEnd(name) { return .stopped }
            return .exited(succeeded: status.isSuccess, wasReady: wasReady)
        }
    }

    /// Watches a process from its start until all processes of its session have ended.
    ///
    /// The leader is not reaped before this function returns, so the kernel does not reuse its process id meanwhile.
    private func attend(
        _ leader: pid_t,
        output: [(LogLine.Stream, SubprocessOutputSequence)],
        socket: NotifySocket,
        deadline: RunningClock.Instant
    ) async -> Cause {
        let session = ProcessSession(id: leader, tag: tag)
        board.change(name) {
            $0.process = ProcessIdentity(of: leader)
            $0.startedAt = Date()
            $0.wasReady = false
            $0.state = awaitsReadiness ? .starting : .running
            // The health of earlier runs does not count for this run.
            $0.health = probe.map { _ in ServiceHealth() }
            ($0.message, $0.fault, $0.pause) = (nil, nil, nil)
        }
        return await withTaskGroup(of: Void.self) { group in
            // These tasks are not cancelled, so that no line is lost.
            for (stream, output) in output { group.addTask { await copy(output, of: stream) } }
            let cause = await firstCause(session, socket: socket, deadline: deadline)
            let fault: RunFault? = if case .faulty(let fault) = cause { fault } else { nil }
            let hasMembers = await !session.members.isEmpty
            if cause != .leaderExited || hasMembers {
                board.change(name) { ($0.state, $0.fault) = (.stopping, fault?.description) }
            }
            if let fault {
                logger.error("ending a service", metadata: ["service": "\(name)", "because": "it \(fault)"])
            }
            await session.terminate(signal: fault?.signal ?? service.stopSignal, grace: stopGrace) {
                _ = await board.first { $0.isUrgent(name) }
            }
            return cause
        }
    }

    private func firstCause(
        _ session: ProcessSession,
        socket: NotifySocket,
        deadline: RunningClock.Instant
    ) async -> Cause {
        await withTaskGroup(of: Cause?.self) { group in
            group.addTask {
                await session.waitForLeader()
                return .leaderExited
            }
            group.addTask {
                // The services that depend on this service stop first.
                _ = await board.first { $0.mayEnd(name) }
                return .stopRequested
            }
            group.addTask { await followNotifications(socket, deadline: deadline).map { .faulty($0) } }
            if !awaitsReadiness {
                group.addTask {
                    try? await clock.sleep(for: Self.settlingTime)
                    if !Task.isCancelled { board.change(name) { $0.hasSettled = true } }
                    return nil
                }
            }
            if let probe {
                group.addTask { await followHealth(probe).map { .faulty($0) } }
            }
            var cause: Cause?
            while cause == nil, let next = await group.next() { cause = next }
            group.cancelAll()
            await group.waitForAll()
            // A service that announces that it is ready and ends at once counts as having been ready.
            while let message = socket.receive() { handle(message) }
            return cause ?? .leaderExited
        }
    }

    private func copy(_ output: SubprocessOutputSequence, of stream: LogLine.Stream) async {
        do {
            for try await buffer in output {
                await log.append(buffer.withUnsafeBytes { Array($0) }, to: stream)
            }
        } catch {
            logger.error("cannot read a service's output", metadata: ["service": "\(name)", "error": "\(error)"])
        }
        await log.endLine(of: stream)
    }

    /// Reads the messages of the service (sd_notify(3)) while it runs.
    ///
    /// - Returns: the fault for which the service must be ended; nil if the task is cancelled.
    private func followNotifications(_ socket: NotifySocket, deadline: RunningClock.Instant) async -> RunFault? {
        var deadlines = RunDeadlines(
            start: awaitsReadiness ? deadline : nil, timeout: startTimeout, watchdog: service.watchdog, now: clock.now)
        while !Task.isCancelled {
            // All messages are read before a deadline is checked, because the supervisor itself may have been late.
            while let message = socket.receive() {
                handle(message)
                deadlines.handle(message, at: clock.now)
            }
            let state = board.view.status[name]?.state ?? .stopping
            if let fault = deadlines.fault(of: state, at: clock.now) { return fault }
            await socket.wait(until: deadlines.next.map(clock.suspending))
        }
        return nil
    }

    private func handle(_ message: NotifyMessage) {
        board.change(name) { status in
            // With a health check, `READY=1` from the service does not make it ready.
            if message.isReady, probe == nil {
                status.state = .ready
                status.wasReady = true
            }
            if message.isStopping { status.state = .stopping }
            status.message = message.status ?? status.message
        }
    }

    private var probe: HealthProbe? {
        if case .probe(let probe) = service.readiness { probe } else { nil }
    }

    /// Checks the service while it runs, one check after the other.
    ///
    /// - Returns: the fault for which the service must be ended; nil if the task is cancelled.
    private func followHealth(_ probe: HealthProbe) async -> RunFault? {
        let start = clock.now
        var state = HealthState(probe: probe)
        while true {
            try? await clock.sleep(for: state.pause(at: start.duration(to: clock.now)))
            if Task.isCancelled { return nil }
            let age = start.duration(to: clock.now)
            let failure = await failure(of: probe)
            // A check that was cancelled has no result.
            if Task.isCancelled { return nil }
            state.apply(failure, at: age)
            if let fault = judge(state.health) { return fault }
        }
    }

    private func failure(of probe: HealthProbe) async -> String? {
        guard case .command(let command) = probe.test else {
            return await EndpointCheck(test: probe.test, timeout: probe.timeout, clock: clock).run()
        }
        // The check must not send messages in the name of the service.
        let variables = variables.filter { !OfferedVariables.notificationVariables.contains($0.key) }
        do {
            let path = try executable(of: command, as: "healthcheck", variables: variables)
            let configuration = try configuration(of: command, at: path, variables: variables)
            return await HealthCheck(configuration: configuration, timeout: probe.timeout, clock: clock).run()
        } catch {
            return error.message
        }
    }

    /// Updates the service's health in the status, and decides if the service must be ended.
    ///
    /// An unhealthy service is ended if it has not been healthy in this run, or if it has a restart policy other than
    /// `no`.
    private func judge(_ health: ServiceHealth) -> RunFault? {
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

    /// Decides after a run if the service runs again. If it does, waits for the pause first. If it does not, sets its
    /// final state.
    private func shouldRestart(after ending: Ending, attempts: Int, isFirstStart: Bool) async -> Bool {
        switch ending {
        case .stopped:
            board.update { $0.settle(name) }
            return false
        case .failed(let error):
            board.update { $0.fail(name, with: error) }
            return false
        case .faulty(let fault, wasReady: false) where isFirstStart:
            let error = await notReady(fault.description)
            board.update { $0.fail(name, with: error) }
            return false
        case .faulty:
            return await restart(succeeded: false, attempts: attempts, neverReady: false)
        case .exited(let succeeded, let wasReady):
            let neverReady = awaitsReadiness && isFirstStart && !wasReady
            let status = board.view[name]?.exitCode
            return await restart(succeeded: succeeded, status: status, attempts: attempts, neverReady: neverReady)
        }
    }

    private func restart(succeeded: Bool, status: Int32? = nil, attempts: Int, neverReady: Bool) async -> Bool {
        guard service.restart.restarts(succeeded: succeeded, status: status, attempts: attempts) else {
            if neverReady {
                let error = await notReady("\(lastExit) before it was ready")
                board.update { $0.fail(name, with: error) }
            } else {
                let error = succeeded ? nil : await endedBadly()
                board.update { $0.settle(name, with: error) }
            }
            return false
        }
        let delay = backoff.delay(attempts: attempts)
        let metadata: Logger.Metadata = ["service": "\(name)", "ended": "\(lastExit)", "in": "\(delay)"]
        logger.notice("restarting a service", metadata: metadata)
        board.change(name) { ($0.state, $0.pause, $0.hasSettled) = (.restarting, delay / .seconds(1), true) }
        await firstResult(
            of: { _ = await board.first { $0.isToEnd(name) } },
            { try? await Task.sleep(for: delay) })
        if !board.view.isToEnd(name) { return true }
        board.update { $0.settle(name) }
        return false
    }

    private func endedBadly() async -> ComposeError? {
        var error = board.view[name]?.badEnding
        error?.logTail = await log.tail
        return error
    }

    private func notReady(_ reason: String) async -> ComposeError {
        ComposeError(
            code: "not-ready",
            message: "service '\(name)' \(reason)",
            recovery: "see 'segue logs \(name)'",
            logTail: await log.tail, exitStatus: board.view[name]?.exitStatus
        )
    }

    private var lastExit: String {
        let status = board.view[name]
        return (status?.signal.map { .signaled($0) } ?? TerminationStatus.exited(status?.exitCode ?? 0)).summary
    }
}
