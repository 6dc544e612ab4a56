import Foundation
import Subprocess
import SystemPackage
import Testing

/// A client of docs/examples/python, which is run with a verb, as a user runs it.
struct PythonClient: Sendable {
    enum Program: String, CaseIterable, Sendable {
        case fast = "bus.py"
        case simple = "simple.py"
    }

    let bus: String
    var program = Program.fast

    /// Another program on the same bus.
    func callAsFunction(_ program: Program) -> PythonClient {
        PythonClient(bus: bus, program: program)
    }

    static let repository = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..")
        .standardizedFileURL.path
    static let python = "\(repository)/.build/venv/bin/python"
    /// True if the Python environment is installed. `make test` installs it if pip works.
    static let isInstalled = FileManager.default.isExecutableFile(atPath: python)

    /// The failure of a verb, with its error output.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a verb until it ends.
    /// - Returns: The lines of its output.
    /// - Throws: ``Failure`` if the verb ends with another status than 0.
    @discardableResult
    func callAsFunction(_ arguments: String..., input: String = "") async throws -> [String] {
        let result = try await Subprocess.run(
            configuration(arguments), input: .string(input), output: .string(limit: 1 << 24),
            error: .string(limit: 1 << 20))
        guard case .exited(0) = result.terminationStatus else { throw Failure(description: result.standardError) }
        return result.standardOutput.split(separator: "\n").map(String.init)
    }

    /// Runs a verb that does not end by itself while `body` runs.
    func running<Result: Sendable>(
        _ arguments: String..., body: (inout RunningPython) async throws -> Result
    ) async throws -> Result {
        try await running(arguments, body: body)
    }

    /// As ``running(_:body:)``, with the arguments as an array.
    func running<Result: Sendable>(
        _ arguments: [String], body: (inout RunningPython) async throws -> Result
    ) async throws -> Result {
        try await run(configuration(arguments), body)
    }

    /// Runs a script that uses the client, as ``running(_:body:)`` does. The script gets the address of the bus as its
    /// first argument.
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
            // Otherwise Python would write compiled files into the repository.
            environment: .inherit.updating(["PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": Self.folder]))
    }
}

/// A running verb of the Python client.
struct RunningPython {
    private let send: (Signal) -> Void
    private var lines: SubprocessOutputSequence.StringSequence<UTF8>.AsyncIterator
    private var past: [String] = []

    init(output: SubprocessOutputSequence, send: @escaping (Signal) -> Void) {
        lines = output.strings().makeAsyncIterator()
        self.send = send
    }

    /// Ends the process as Ctrl-C does.
    func interrupt() {
        send(.interrupt)
    }

    /// Kills the process.
    func kill() {
        send(.kill)
    }

    /// Stops the process with SIGSTOP until it is resumed.
    func pause() {
        send(.suspend)
    }

    func resume() {
        send(.resume)
    }

    /// The error if the process ended before it printed the expected line.
    struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    /// Waits for the next line of output or errors that satisfies a condition.
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

    /// Waits for a number of messages.
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
