internal import AppContract
internal import Compose
internal import Contracts
internal import Foundation
internal import Monitor
internal import Subprocess
internal import SystemPackage

/// What the programs of a compose file say when they are asked: its services, and its clients.
enum StackContract {
    /// Of a service that has no contract to tell, such as a program that is not ours.
    static let label = "segue.contract"
    /// How many are asked at once: each is started, and an app has some dozens.
    private static let concurrency = 4

    /// - Returns: also a line for each message that two of them do not agree about.
    /// - Throws: ``CommandErrors`` that name all that do not answer; `ExitCode` when a signal ends it.
    static func read(_ stack: Stack) async throws -> (contract: AppContract, conflicts: [String]) {
        try await Interruption.ending { try await ask(stack) }
    }

    private static func ask(_ stack: Stack) async throws -> (contract: AppContract, conflicts: [String]) {
        let services = stack.services.filter { $0.labels[label] != "none" }.sorted { $0.name < $1.name }
        let programs =
            services.map { ProgramContract($0, of: stack) }
            + stack.clients.map { ProgramContract(client: $0, of: stack) }
        var merger = ContractMerger(title: stack.name ?? "an app")
        var errors: [CommandError] = []
        for (program, answer) in zip(programs, await answers(of: programs)) {
            switch answer {
            case .success(let contract): merger.add(contract, as: program.service ?? contract.name)
            case .failure(let error): errors.append(error)
            }
        }
        guard errors.isEmpty else { throw CommandErrors(errors: errors) }
        return (merger.contract, merger.conflicts)
    }

    private typealias Answer = Result<Document.ServiceContract, CommandError>

    /// - Returns: what each says, in this order: who is asked later does not overrule who was asked before.
    private static func answers(of programs: [ProgramContract]) async -> [Answer] {
        await withTaskGroup(of: (Int, Answer).self) { group in
            var answers: [Int: Answer] = [:]
            for (index, program) in programs.enumerated() {
                if index >= concurrency, let (index, answer) = await group.next() { answers[index] = answer }
                group.addTask {
                    do throws(CommandError) {
                        return (index, .success(try await program.read()))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for await (index, answer) in group { answers[index] = answer }
            return programs.indices.compactMap { answers[$0] }
        }
    }
}

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
