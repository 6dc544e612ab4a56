import Foundation
import TestSupport
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

    static let python = Repository.path(".build/venv/bin/python")
    /// True if the Python environment is installed. `make test` installs it if pip works.
    static let isInstalled = FileManager.default.isExecutableFile(atPath: python)

    /// Runs a verb until it ends.
    /// - Returns: The lines of its output.
    /// - Throws: ``TestProgram/Failure`` if the verb ends with another status than 0.
    @discardableResult
    func callAsFunction(_ arguments: String..., input: String = "") async throws -> [String] {
        try await verb(arguments).output(input: input).split(separator: "\n").map(String.init)
    }

    /// Runs a verb that does not end by itself while `body` runs.
    func running<Result: Sendable>(
        _ arguments: String..., body: (inout RunningProgram) async throws -> Result
    ) async throws -> Result {
        try await running(arguments, body: body)
    }

    /// As ``running(_:body:)``, with the arguments as an array.
    func running<Result: Sendable>(
        _ arguments: [String], body: (inout RunningProgram) async throws -> Result
    ) async throws -> Result {
        try await verb(arguments).whileRunning(body)
    }

    /// Runs a script that uses the client, as ``running(_:body:)`` does. The script gets the address of the bus as its
    /// first argument.
    func running<Result: Sendable>(
        script: String, body: (inout RunningProgram) async throws -> Result
    ) async throws -> Result {
        try await Self.program(["-c", script, bus]).whileRunning(body)
    }

    static let folder = Repository.path("docs/examples/python")

    private func verb(_ arguments: [String]) -> TestProgram {
        Self.program(["\(Self.folder)/\(program.rawValue)", "--bus", bus] + arguments)
    }

    private static func program(_ arguments: [String]) -> TestProgram {
        // Otherwise Python would write compiled files into the repository.
        TestProgram(python, arguments, environment: ["PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": folder])
    }
}

extension RunningProgram {
    /// Waits until a number of messages is printed.
    @discardableResult
    mutating func messages(_ count: Int) async throws -> [PrintedMessage] {
        var messages: [PrintedMessage] = []
        while messages.count < count {
            messages.append(try PrintedMessage(await waitUntilLine { $0.hasPrefix("{") }))
        }
        return messages
    }
}

extension Trait where Self == ConditionTrait {
    static var needsPython: Self {
        .enabled(if: PythonClient.isInstalled, "scripts/python, which make test runs, installs what it needs")
    }
}
