internal import Foundation
internal import Subprocess
internal import SystemPackage

/// Runs the built `segue` as a user does, with its own folder for state and sockets.
package struct SegueCommandLine: Sendable {
    package struct Result: Sendable {
        package let status: Int32
        package let output: String
        package let error: String

        package var lines: [String] { output.split(separator: "\n").map(String.init) }
        package var errorLines: [String] { error.split(separator: "\n").map(String.init) }
    }

    package let directory: String
    /// The working directory of the command; nil for `directory`.
    package var workingDirectory: String?
    package var environment: [String: String] = [:]

    /// The folder of the running executable, in which the built executables are.
    private static let executables = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().path

    /// Runs `body` with an empty folder. Projects that are still running afterwards are stopped.
    package static func inScratch(_ body: (SegueCommandLine) async throws -> Void) async throws {
        // The path must be short, because a socket's path has at most 107 bytes.
        let directory = "/tmp/segue-cli-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let segue = SegueCommandLine(directory: directory)
        let result: Swift.Result<Void, any Error>
        do {
            result = .success(try await body(segue))
        } catch {
            result = .failure(error)
        }
        // A test that takes too long is cancelled. A separate task is not cancelled, and can still run 'segue down'.
        try await Task { try await segue.cleanUp() }.value
        try result.get()
    }

    private func cleanUp() async throws {
        let projects = try? FileManager.default.contentsOfDirectory(atPath: directory + "/state/segue")
        for project in projects ?? [] { _ = try await self("down", "-t", "0", "-p", project) }
        try? FileManager.default.removeItem(atPath: directory)
    }

    @discardableResult
    package func callAsFunction(_ arguments: String..., input: String = "") async throws -> Result {
        try await run(arguments, input: input)
    }

    package func run(_ arguments: [String], input: String = "") async throws -> Result {
        try await run("\(Self.executables)/segue", arguments, input: input)
    }

    /// Runs a Bash script with `segue` in its `PATH`.
    @discardableResult
    package func shell(_ script: String) async throws -> Result {
        try await run("/bin/bash", ["-c", script])
    }

    package func write(_ text: String, to name: String = "compose.yaml") throws {
        try text.write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
    }

    private func run(_ executable: String, _ arguments: [String], input: String = "") async throws -> Result {
        let path = Environment.Key(rawValue: "PATH").map { [$0: "\(Self.executables):/usr/bin:/bin"] } ?? [:]
        let variables = [
            "XDG_STATE_HOME": directory + "/state", "XDG_RUNTIME_DIR": directory + "/run",
            // Supervisors end with this process, even if it is killed.
            "SEGUE_OWNER_PID": "\(ProcessInfo.processInfo.processIdentifier)",
        ].merging(environment) { _, own in own }
        let pairs = variables.compactMap { name, value in Environment.Key(rawValue: name).map { ($0, value) } }
        let result = try await Subprocess.run(
            .path(FilePath(executable)), arguments: Arguments(arguments),
            environment: .custom(path.merging(pairs) { _, own in own }),
            workingDirectory: FilePath(workingDirectory ?? directory),
            input: .string(input), output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        var status: Int32 = -1
        if case .exited(let code) = result.terminationStatus { status = code }
        return Result(status: status, output: result.standardOutput, error: result.standardError)
    }
}
