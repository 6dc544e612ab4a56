import Foundation
import Subprocess
import SystemPackage
import Testing

/// A client in docs/examples/python, run as a user would: a program and its verbs.
struct PythonClient: Sendable {
    enum Program: String, CaseIterable, Sendable {
        case fast = "bus.py"
        case simple = "simple.py"
    }

    let bus: String
    var program = Program.fast

    /// The same bus, seen by another program.
    func callAsFunction(_ program: Program) -> PythonClient {
        PythonClient(bus: bus, program: program)
    }

    static let repository = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..")
        .standardizedFileURL.path
    static let python = "\(repository)/.build/venv/bin/python"
    /// `make test` installs it, if pip can.
    static let isInstalled = FileManager.default.isExecutableFile(atPath: python)

    /// What it said before it failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a verb to its end.
    /// - Returns: the lines of its output.
    /// - Throws: ``Failure`` unless it ends well.
    @discardableResult
    func callAsFunction(_ arguments: String..., input: String = "") async throws -> [String] {
        let result = try await Subprocess.run(
            configuration(arguments), input: .string(input), output: .string(limit: 1 << 24),
            error: .string(limit: 1 << 20))
        guard case .exited(0) = result.terminationStatus else { throw Failure(description: result.standardError) }
        return result.standardOutput.split(separator: "\n").map(String.init)
    }

    /// Runs a verb that does not end by itself for as long as `body` does.
    func running<Result: Sendable>(
        _ arguments: String..., body: (inout RunningPython) async throws -> Result
    ) async throws -> Result {
        try await running(arguments, body: body)
    }

    /// As ``running(_:body:)`` with the arguments one by one.
    func running<Result: Sendable>(
        _ arguments: [String], body: (inout RunningPython) async throws -> Result
    ) async throws -> Result {
        try await run(configuration(arguments), body)
    }

    /// Runs a script that uses the client, and finds the bus in its first argument, as ``running(_:body:)`` does.
    func running<Result: Sendable>(
        script: String, body: (inout RunningPython) async throws -> Result
    ) async throws -> Result {
        try await run(configuration(python: ["-c", script, bus]), body)
    }

    private func run<Result: Sendable>(
        _ configuration: Configuration, _ body: (inout RunningPython) async throws -> Result
    ) async throws -> Result {
        let result = try await Subprocess.run(
            configuration, input: .none, output: .sequence, error: .combinedWithOutput
        ) { execution in
            var process = RunningPython(output: execution.standardOutput) { try? execution.send(signal: $0) }
            defer { process.interrupt() }
            return try await body(&process)
        }
        return result.closureResult
    }

    static let folder = "\(repository)/docs/examples/python"

    private func configuration(_ arguments: [String]) -> Configuration {
        configuration(python: ["\(Self.folder)/\(program.rawValue)", "--bus", bus] + arguments)
    }

    private func configuration(python arguments: [String]) -> Configuration {
        Configuration(
            executable: .path(FilePath(Self.python)), arguments: Arguments(arguments),
            // Its compiled files would lie about in the repository.
            environment: .inherit.updating(["PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": Self.folder]))
    }
}

/// A verb of the Python client that runs.
struct RunningPython {
    private let send: (Signal) -> Void
    private var lines: SubprocessOutputSequence.StringSequence<UTF8>.AsyncIterator
    private var past: [String] = []

    init(output: SubprocessOutputSequence, send: @escaping (Signal) -> Void) {
        lines = output.strings().makeAsyncIterator()
        self.send = send
    }

    /// Lets it end as Control-C does.
    func interrupt() {
        send(.interrupt)
    }

    /// Ends it without warning.
    func kill() {
        send(.kill)
    }

    /// Makes it silent without its knowing, until it resumes.
    func pause() {
        send(.suspend)
    }

    func resume() {
        send(.resume)
    }

    /// It ended before it had said what was waited for.
    struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    /// Waits for the next line, of output or errors, that fits.
    mutating func line(where fits: (String) -> Bool) async throws -> String {
        while let line = try await lines.next() {
            if fits(line) { return line }
            past.append(line)
        }
        throw Ended(description: past.joined(separator: "\n"))
    }

    /// Waits for this line.
    mutating func says(_ line: String) async throws {
        _ = try await self.line { $0 == line }
    }

    /// Waits for as many messages.
    @discardableResult
    mutating func messages(_ count: Int) async throws -> [PrintedMessage] {
        var messages: [PrintedMessage] = []
        while messages.count < count {
            messages.append(try PrintedMessage(await line { $0.hasPrefix("{") }))
        }
        return messages
    }
}

extension Trait where Self == ConditionTrait {
    static var needsPython: Self {
        .enabled(if: PythonClient.isInstalled, "scripts/python, which make test runs, installs what it needs")
    }
}
