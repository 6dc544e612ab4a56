internal import AppContract
internal import ArgumentParser
internal import Compose
internal import Contracts
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

/// The options that select the services to ask for their contracts: the services of a compose file, or the services on
/// a bus.
struct ContractOrigin: ParsableArguments, Sendable {
    @OptionGroup var compose: ComposeFileOptions

    @Option(
        name: .customLong("with"),
        help: ArgumentHelp(
            "Ask this program, too, such as 'device --platform ios'; may be repeated.",
            valueName: "command"))
    var clients: [String] = []

    @OptionGroup var bus: BusOptions

    func validate() throws {
        guard !isOnBus || compose.files.isEmpty && clients.isEmpty else {
            throw ValidationError(
                "use either -f and --with, which start programs, or --bus and -p, which ask a running bus")
        }
        _ = try commands()
    }

    private var isOnBus: Bool { bus.bus != nil || bus.project.project != nil }

    /// Asks the services, and merges their contracts. Reports contradictions between services on standard error.
    /// - Throws: ``CommandErrors`` with an error for each program that does not answer; ``CommandError`` if no process
    ///   on the bus has published a contract.
    func read() async throws -> AppContract {
        let (contract, conflicts) = isOnBus ? try await onBus() : try await StackContract.read(try await stack())
        for conflict in conflicts { await Console.error.tell(conflict) }
        return contract
    }

    private func onBus() async throws -> (AppContract, [String]) {
        let found = try await bus.withBus { try await BusContract.read($0) }
        await Console.error.tell(found.unreadable)
        guard !found.contract.parties.isEmpty else {
            throw CommandError(
                code: "no-contract", "no process on this bus has published a contract",
                recovery: "start the services, or ask the services of a compose file with -f")
        }
        return (found.contract, found.conflicts)
    }

    private func stack() async throws -> Stack {
        var stack = try compose.stack(of: try await compose.read())
        stack.clients += try commands()
        return stack
    }

    private func commands() throws -> [[String]] {
        try clients.map { client in
            guard let words = ShellWords.split(client), !words.isEmpty else {
                throw ValidationError(
                    "--with '\(client)' is not a command: it is empty, ends in a backslash, or has an open quote")
            }
            return words
        }
    }
}

/// A contract in a file.
enum ContractFile {
    /// The usual path of a project's contract file, relative to the working directory.
    static let standard = "config/contract.json"

    /// Reads a file; for `-`, standard input to its end.
    /// - Throws: ``CommandError`` if the file cannot be read, or is not a contract.
    static func read(_ path: String) throws -> AppContract {
        if path == "-" { return try parse(Data(StandardInput.text().utf8), called: "standard input") }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandError(
                code: "unreadable-file", "there is no file \(path), or it cannot be read",
                recovery: "write one with 'segue contract export -o \(Escape.shellWord(path))'", status: .noInput)
        }
        return try parse(data, called: path)
    }

    private static func parse(_ data: Data, called name: String) throws(CommandError) -> AppContract {
        do {
            return try AppContract(parsing: data)
        } catch {
            throw CommandError(
                code: "no-contract", "\(name) is not a contract: \(error)",
                recovery: "write one with 'segue contract export -o FILE'", status: .dataError)
        }
    }

    /// The contract as JSON, indented and with sorted keys.
    static func text(of contract: AppContract) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(contract.asyncAPI), as: UTF8.self) + "\n"
    }
}
