import Compose
import Foundation
import Logging

/// A folder of one test's own, short enough for sockets.
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
