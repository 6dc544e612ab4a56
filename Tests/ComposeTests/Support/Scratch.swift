import Compose
import Foundation
import Logging
import TestSupport

/// A folder of one test, with a path that is short enough for sockets.
final class Scratch: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/segue-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var stateRoot: String { path + "/state" }
    var runtimeRoot: String { path + "/run" }

    func project(_ name: String = "test") throws -> Project {
        try Project(name: name, stateRoot: stateRoot, runtimeRoot: runtimeRoot)
    }

    func stack(_ services: [Service], ports: [String] = []) -> Stack {
        Stack(directory: path, services: services, ports: ports)
    }

    func supervisor(
        _ stack: Stack,
        project name: String = "test",
        options: SupervisorOptions = .test
    ) throws -> Supervisor {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return try Supervisor(stack: stack, project: project(name), options: options, logger: logger)
    }

    func write(_ text: String, to name: String) throws -> String {
        let file = path + "/" + name
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }

    func read(_ name: String) throws -> String {
        try String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }
}

extension SupervisorOptions {
    static var test: SupervisorOptions {
        SupervisorOptions(backoff: RestartBackoff(initial: .milliseconds(5), maximum: .milliseconds(40)))
    }
}

extension Service {
    /// A service that runs a shell script.
    static func shell(_ name: String, _ script: String, after dependencies: [Dependency] = []) -> Service {
        Service(name: name, command: ["sh", "-c", script], dependencies: dependencies)
    }

    /// A command for scripts that sends one sd_notify message.
    static func notify(_ message: String) -> String {
        "perl -MSocket -e 'socket(S,PF_UNIX,SOCK_DGRAM,0);send(S,\"\(message)\",0,pack_sockaddr_un($ENV{NOTIFY_SOCKET}))'"
    }

    /// A command that waits without a child process.
    static let forever = "exec sleep 1000"
}

enum Shell {
    /// The output and the errors of a script.
    /// - Throws: ``TestProgram/Failure`` if the script's exit status is not 0.
    @discardableResult
    static func run(_ script: String, _ arguments: String...) async throws -> String {
        try await TestProgram("/bin/bash", ["-c", "exec 2>&1\n\(script)"] + arguments).output()
    }
}
