import Foundation
import Subprocess
import SystemPackage

/// A shell as a new user has it: in the repository, with the executables on the path, and with folders of the test's own.
struct Shell {
    let scratch: String

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    static func inScratch(_ body: (Shell) async throws -> Void) async throws {
        let scratch = "/tmp/segue-\(UUID().uuidString.prefix(8).lowercased())"
        try FileManager.default.createDirectory(
            atPath: "\(scratch)/run", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let shell = Shell(scratch: scratch)
        do {
            try await body(shell)
        } catch {
            let logs = try? await shell.run("segue ps; segue logs")
            _ = try? await shell.run("segue down -f compose/default.yaml")
            throw Failed(description: "\(error)\n\(logs ?? "")")
        }
    }

    func write(_ name: String, _ text: String) async throws {
        let path = "\(scratch)/\(name)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    }

    /// Runs lines of shell; the first that fails ends them.
    /// - Returns: what they printed.
    @discardableResult
    func run(_ lines: String) async throws -> String {
        let executables = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let directory = URL(fileURLWithPath: executables).deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let result = try await Subprocess.run(
            .path("/bin/bash"), arguments: ["-euo", "pipefail", "-c", "exec 2>&1\n\(lines)"],
            environment: .inherit.updating([
                "PATH": "\(directory):\(path)", "XDG_STATE_HOME": "\(scratch)/state",
                "XDG_RUNTIME_DIR": "\(scratch)/run",
                "SCRATCH": scratch,
            ]),
            workingDirectory: FilePath(Repository.path("")), output: .string(limit: 1 << 20), error: .discarded)
        let output = result.standardOutput
        guard result.terminationStatus.isSuccess else {
            throw Failed(description: "'\(lines.prefix(200))' ended with \(result.terminationStatus): \(output)")
        }
        return output
    }
}
