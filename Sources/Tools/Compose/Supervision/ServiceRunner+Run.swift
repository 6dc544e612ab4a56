import Subprocess
import SystemPackage

extension ServiceRunner {
    /// Runs the process once, until it and all its descendants have ended.
    ///
    /// - Parameter deadline: until when it must be ready, if that is expected of it.
    func runOnce(deadline: ContinuousClock.Instant) async -> Ending {
        guard board.claimStart(of: name) else { return .stopped }
        do {
            let configuration = try configuration(of: service.command, as: "command", variables: variables)
            let socket = try NotifySocket(path: project.notifyPath(of: name))
            let result = try await Subprocess.run(
                configuration, input: .none, output: .sequence, error: .sequence
            ) { execution in
                await attend(
                    ProcessSession(id: execution.processIdentifier.value),
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

    /// What it takes to run a command as the service's own: its folder and variables, and a session for itself.
    ///
    /// - Parameter key: of the service's entry, that says the command.
    func configuration(
        of command: [String], as key: String, variables: [String: String]
    ) throws(ComposeError) -> Configuration {
        let folder = try service.existingDirectory(in: directory)
        let path = try ExecutableLookup(executableDirectory: options.executableDirectory)
            .executable(
                of: command, as: ServiceKey(service: service.name, name: key), workingDirectory: folder,
                searchPath: variables["PATH"])
        var platform = PlatformOptions()
        // Ctrl-C in the supervisor's terminal must reach the supervisor alone, which then stops all in order.
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

    private func finish(_ status: TerminationStatus, after cause: RunCause) -> Ending {
        board.change(name) {
            $0.process = nil
            $0.health = nil
            switch status {
            case .exited(let code): ($0.exitCode, $0.signal) = (code, nil)
            case .signaled(let signal): ($0.exitCode, $0.signal) = (nil, signal)
            }
        }
        switch cause.reason {
        case .stopRequested: return .stopped
        case .faulty(let fault): return .faulty(fault, wasReady: cause.wasReady)
        case .leaderExited:
            // Asked to stop while the last of its descendants were being ended.
            if board.view.isToEnd(name) { return .stopped }
            return .exited(succeeded: status.isSuccess, wasReady: cause.wasReady)
        }
    }
}
