internal import Foundation
package import Subprocess
internal import SystemPackage

/// A program that a test runs as a separate process.
package struct TestProgram: Sendable {
    private let name: String
    private let configuration: Configuration

    /// The end of a program.
    package struct Result: Sendable {
        package let status: TerminationStatus
        package let output: String
        package let error: String
    }

    /// A program that has not done what the test needs, with what it printed.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameters:
    ///   - program: a path, or a name that is looked up in `PATH`.
    ///   - environment: variables that are added to those of the test.
    ///   - inheritsEnvironment: false if the program gets no other variables than `environment`.
    ///   - directory: the working directory; nil for that of the test.
    package init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:],
        inheritsEnvironment: Bool = true, in directory: String? = nil
    ) {
        let variables = Dictionary(
            environment.compactMap { name, value in Environment.Key(rawValue: name).map { ($0, value) } }
        ) { $1 }
        name = program.split(separator: "/").last.map(String.init) ?? program
        configuration = Configuration(
            executable: program.contains("/") ? .path(FilePath(program)) : .name(program),
            arguments: Arguments(arguments),
            environment: inheritsEnvironment
                ? Environment.inherit.updating(variables.mapValues(Optional.some)) : Environment.custom(variables),
            workingDirectory: directory.map { FilePath($0) })
    }

    /// The folder of the programs that are built with the tests.
    package static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().path

    /// The path of a program of this package.
    package static func built(_ name: String) -> String { "\(folder)/\(name)" }

    /// Runs the program until it ends.
    package func run(input: String = "") async throws -> Result {
        let result = try await Subprocess.run(
            configuration, input: .string(input), output: .string(limit: 1 << 24), error: .string(limit: 1 << 22))
        return Result(
            status: result.terminationStatus, output: result.standardOutput, error: result.standardError)
    }

    /// Runs the program until it ends, and returns what it printed.
    /// - Throws: ``Failure`` if its status is not 0.
    @discardableResult
    package func output(input: String = "") async throws -> String {
        let result = try await run(input: input)
        guard result.status.isSuccess else {
            throw Failure(description: "\(name): \(result.status)\n\(result.output)\(result.error)")
        }
        return result.output
    }

    /// Runs the program while `body` runs, and interrupts it afterwards. If `body` fails, prints the lines of the
    /// program.
    package func whileRunning<Value: Sendable>(
        _ body: (inout RunningProgram) async throws -> Value
    ) async throws -> Value {
        try await observe { program in
            defer { program.interrupt() }
            return try await body(&program)
        }.value
    }

    /// Runs the program until it ends by itself or because of a signal of `body`, and returns its end. If `body` fails,
    /// prints the lines of the program.
    package func end(after body: (inout RunningProgram) async throws -> Void) async throws -> TerminationStatus {
        try await observe(body).status
    }

    private func observe<Value: Sendable>(
        _ body: (inout RunningProgram) async throws -> Value
    ) async throws -> (value: Value, status: TerminationStatus) {
        let result = try await Subprocess.run(
            configuration, input: .none, output: .sequence, error: .combinedWithOutput
        ) { execution in
            var program = RunningProgram(output: execution.standardOutput) { try? execution.send(signal: $0) }
            do {
                return try await body(&program)
            } catch let error where !(error is CancellationError) {
                let text = program.printed.map { "\(name): \($0)\n" }.joined()
                FileHandle.standardError.write(Data(text.utf8))
                throw error
            }
        }
        return (result.closureResult, result.terminationStatus)
    }
}

/// A program that runs while a test observes it.
package struct RunningProgram {
    private let send: (Signal) -> Void
    private var lines: SubprocessOutputSequence.StringSequence<UTF8>.AsyncIterator
    /// The lines of output and errors that the test has read so far.
    package private(set) var printed: [String] = []

    fileprivate init(output: SubprocessOutputSequence, send: @escaping (Signal) -> Void) {
        lines = output.strings().makeAsyncIterator()
        self.send = send
    }

    /// Ends the program as Ctrl-C does.
    package func interrupt() { send(.interrupt) }

    /// Ends the program as a supervisor does (SIGTERM).
    package func terminate() { send(.terminate) }

    /// Kills the program.
    package func kill() { send(.kill) }

    /// Stops the program with SIGSTOP until it is resumed.
    package func pause() { send(.suspend) }

    package func resume() { send(.resume) }

    /// Waits until the program prints a line that satisfies a condition.
    /// - Throws: ``TestProgram/Failure`` if the program ends before.
    @discardableResult
    package mutating func waitUntilLine(where fits: (String) -> Bool) async throws -> String {
        while let line = try await lines.next() {
            printed.append(line)
            if fits(line) { return line }
        }
        throw TestProgram.Failure(description: "the program has ended:\n" + printed.joined(separator: "\n"))
    }

    /// Waits until the program prints this line.
    package mutating func waitUntilLine(_ line: String) async throws {
        try await waitUntilLine { $0 == line }
    }
}
