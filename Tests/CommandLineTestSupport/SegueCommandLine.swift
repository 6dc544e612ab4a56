internal import Foundation
internal import Subprocess
internal import TestSupport

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
        try await run(TestProgram.built("segue"), arguments, input: input)
    }

    /// Runs a Bash script with `segue` in its `PATH`.
    @discardableResult
    package func shell(_ script: String) async throws -> Result {
        try await run("/bin/bash", ["-c", script])
    }

    package func write(_ text: String, to name: String = "compose.yaml") throws {
        try text.write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
    }

    private func run(_ program: String, _ arguments: [String], input: String = "") async throws -> Result {
        let variables = [
            "PATH": "\(TestProgram.folder):/usr/bin:/bin",
            "XDG_STATE_HOME": directory + "/state", "XDG_RUNTIME_DIR": directory + "/run",
            // Supervisors end with this process, even if it is killed.
            "SEGUE_OWNER_PID": "\(ProcessInfo.processInfo.processIdentifier)",
        ].merging(environment) { _, own in own }
        let result = try await TestProgram(
            program, arguments, environment: variables, inheritsEnvironment: false, in: workingDirectory ?? directory
        ).run(input: input)
        var status: Int32 = -1
        if case .exited(let code) = result.status { status = code }
        return Result(status: status, output: result.output, error: result.error)
    }
}
