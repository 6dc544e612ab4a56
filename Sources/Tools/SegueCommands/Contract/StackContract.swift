internal import AppContract
internal import Compose
internal import Contracts
internal import Foundation
internal import Monitor
internal import Projects
internal import Subprocess
internal import Support
internal import SystemPackage
internal import SystemSupport

/// Asks the services and clients of a compose file for their contracts, and merges them.
enum StackContract {
    /// The label whose value `none` marks a service without a contract, such as a database.
    static let label = "segue.contract"
    /// The maximum number of programs that run at the same time. Further programs start when others have ended.
    private static let concurrency = 4

    /// - Returns: the merged contract, and one line for each description of a message that differs from an earlier
    ///   program's description.
    /// - Throws: ``CommandErrors`` with an error for each program that does not answer; `ExitCode` if a signal ends the
    ///   command.
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
            case .success(let contract):
                do throws(AppContract.Unreadable) {
                    try merger.add(contract, as: program.service ?? contract.name)
                } catch {
                    errors.append(program.failure("prints a contract with an invalid name: \(error)"))
                }
            case .failure(let error): errors.append(error)
            }
        }
        guard errors.isEmpty else { throw CommandErrors(errors: errors) }
        return (merger.contract, merger.conflicts)
    }

    private typealias Answer = Result<Document.ServiceContract, CommandError>

    /// - Returns: the answers, in the order of the programs.
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

/// Runs a program with `--contract` to read its contract.
struct ProgramContract {
    /// The maximum time to wait for the contract. After this time, the program is killed and reported as an error.
    private static let patience: Duration = .seconds(10)
    /// The maximum size of a contract in bytes. A program that prints more is reported as an error.
    private static let limit = 4 << 20
    /// The variables of this process that the program does not inherit. A program that ignores `--contract` must not
    /// find a bus or report that it is ready.
    private static let withheld: Set = ["SEGUE_BUS", KeyFilePlace.variable, "SEGUE_STATE_DIR", "NOTIFY_SOCKET"]

    /// The service's name in the compose file. Nil for a client.
    let service: String?
    /// The name of the program in errors.
    private let name: String
    private let advice: String
    private let command: [String]
    private let directory: String
    private let environment: [String: String]

    init(_ service: Service, of stack: Stack) {
        self.service = service.name
        name = "service '\(service.name)'"
        advice = "build it with ServiceProcess, or label it '\(StackContract.label): none'"
        command = service.command
        directory = service.absolutePath(of: "", in: stack.directory)
        environment = service.environment.compactMapValues(\.self)
    }

    /// - Parameter client: the words of a command that people run in the folder of the compose file.
    init(client: [String], of stack: Stack) {
        service = nil
        name = "client '\(client.joined(separator: " "))'"
        advice = "build it with ServiceProcess, or remove it from the clients"
        command = client
        directory = stack.directory
        environment = [:]
    }

    /// - Throws: ``CommandError`` if there is no such program, or if it does not print a contract within 10 s.
    func read() async throws(CommandError) -> Document.ServiceContract {
        let executable = try executable()
        do {
            let text = try await withTimeLimit(
                Self.patience, orThrow: failure(executable, "does not answer --contract within \(Self.patience)")
            ) {
                try await output(of: executable)
            }
            return try JSONDecoder().decode(Document.ServiceContract.self, from: Data(text.utf8))
        } catch let error as CommandError {
            throw error
        } catch is DecodingError {
            throw failure(executable, "does not print a contract for --contract")
        } catch {
            throw failure(executable, "cannot be asked for its contract: \(error)")
        }
    }

    private func executable() throws(CommandError) -> String {
        let lookup = ExecutableLookup(executableDirectory: InstalledFiles.programFolder)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        guard let found = lookup.find(command[0], workingDirectory: directory, searchPath: path) else {
            throw CommandError(
                code: "no-executable", "\(name): there is no program '\(command[0])'",
                recovery: "build the program, or correct its name",
                status: .unavailable)
        }
        return found
    }

    /// Runs the executable in a session of its own. After the end of the executable, the processes of the session are
    /// killed.
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
            // The last lines often contain the reason, such as an unknown option.
            let said = result.standardError.lines.filter { !$0.isEmpty }.suffix(3).map { ": \($0.prefix(200))" }
            throw failure(executable, "does not answer --contract: \(result.terminationStatus.summary)\(said.joined())")
        }
        return result.standardOutput
    }

    private func failure(_ executable: String, _ problem: String) -> CommandError {
        failure("(\(executable)) \(problem)")
    }

    fileprivate func failure(_ problem: String) -> CommandError {
        CommandError(code: "no-contract", "\(name) \(problem)", recovery: advice)
    }
}
