internal import Compose
internal import Contracts
internal import Foundation
internal import Monitor
internal import Subprocess
internal import SystemPackage

/// Asks a program what it receives and sends, by `--contract`.
struct ProgramContract {
    /// It only has to write down what it knows.
    private static let patience: Duration = .seconds(10)
    /// Some hundred times what a service of the focus player writes.
    private static let limit = 4 << 20
    /// A program that does not know `--contract` must find no bus to join, and nobody to tell that it is ready.
    private static let withheld: Set = ["SEGUE_BUS", "SEGUE_STATE_DIR", "NOTIFY_SOCKET"]

    /// In the compose file; nil for a client, which has none there.
    let service: String?
    /// What findings call it.
    private let name: String
    private let advice: String
    private let command: [String]
    private let directory: String
    private let environment: [String: String]

    init(_ service: Service, of stack: Stack) {
        self.service = service.name
        name = "service '\(service.name)'"
        advice = "let it be a ServiceProcess, or label it '\(StackContract.label): none'"
        command = service.command
        // What is known only when the service starts is no folder yet.
        let path = service.workingDirectory.flatMap { $0.hasPrefix("${") ? nil : $0 } ?? stack.directory
        directory = path.hasPrefix("/") ? path : "\(stack.directory)/\(path)"
        environment = service.environment.compactMapValues(\.self)
    }

    /// - Parameter client: a program that people start in the folder of the compose file.
    init(client: [String], of stack: Stack) {
        service = nil
        name = "client '\(client.joined(separator: " "))'"
        advice = "let it be a ServiceProcess, or remove it from the clients"
        command = client
        directory = stack.directory
        environment = [:]
    }

    /// - Throws: ``CommandError`` that names it, its executable, and what it said instead.
    func read() async throws(CommandError) -> Document.ServiceContract {
        let executable = try executable()
        do {
            let text = try await withThrowingTaskGroup(of: String.self) { group in
                group.addTask { try await output(of: executable) }
                group.addTask {
                    try await Task.sleep(for: Self.patience)
                    throw failure(executable, "does not answer --contract within \(Self.patience)")
                }
                defer { group.cancelAll() }
                return try await group.next() ?? ""
            }
            return try JSONDecoder().decode(Document.ServiceContract.self, from: Data(text.utf8))
        } catch let error as CommandError {
            throw error
        } catch is DecodingError {
            throw failure(executable, "prints something else than its contract for --contract")
        } catch {
            throw failure(executable, "cannot be asked for its contract: \(error)")
        }
    }

    private func executable() throws(CommandError) -> String {
        let lookup = ExecutableLookup(executableDirectory: SupervisorOptions.runningExecutableDirectory)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        guard let found = lookup.find(command[0], workingDirectory: directory, searchPath: path) else {
            throw CommandError(
                code: "no-executable", "\(name): there is no program '\(command[0])'",
                recovery: "build it, or correct it",
                status: .unavailable)
        }
        return found
    }

    /// In a session of its own: what it has started goes with it, however it ends, and Ctrl-C is this program's alone.
    private func output(of executable: String) async throws -> String {
        var platform = PlatformOptions()
        platform.createSession = true
        let variables = ProcessInfo.processInfo.environment.filter { !Self.withheld.contains($0.key) }
            .merging(environment) { _, own in own }
        let pairs = variables.compactMap { name, value in Environment.Key(rawValue: name).map { ($0, value) } }
        let result = try await Subprocess.run(
            .path(FilePath(executable)),
            arguments: Arguments(
                executablePathOverride: command[0], remainingValues: command.dropFirst() + ["--contract"]),
            environment: .custom(Dictionary(pairs) { first, _ in first }), workingDirectory: FilePath(directory),
            platformOptions: platform, input: .none, output: .string(limit: Self.limit),
            error: .string(limit: Self.limit)
        ) { execution in
            let session = ProcessSession(id: execution.processIdentifier.value)
            await session.waitForLeader()
            await session.kill()
        }
        guard result.terminationStatus.isSuccess else {
            // Its last words: that it knows no such option, or where it was when it failed.
            let said = result.standardError.split(whereSeparator: \.isNewline).suffix(3).map { ": \($0.prefix(200))" }
            throw failure(executable, "does not answer --contract: \(result.terminationStatus.summary)\(said.joined())")
        }
        return result.standardOutput
    }

    private func failure(_ executable: String, _ problem: String) -> CommandError {
        CommandError(code: "no-contract", "\(name) (\(executable)) \(problem)".printable, recovery: advice)
    }
}
