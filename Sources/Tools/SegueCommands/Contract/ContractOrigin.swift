internal import AppContract
internal import ArgumentParser
internal import Compose
internal import Contracts
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation

/// Where a contract comes from that is not in a file yet: the services of a compose file, or those on a bus.
struct ContractOrigin: ParsableArguments, Sendable {
    @OptionGroup var compose: ComposeFileOptions

    @Option(
        name: .customLong("with"),
        help: ArgumentHelp(
            "Also a program that people start beside the services, as in 'device --platform ios'.",
            valueName: "command"))
    var clients: [String] = []

    @OptionGroup var bus: BusOptions

    func validate() throws {
        guard !isOnBus || compose.files.isEmpty && clients.isEmpty else {
            throw ValidationError("-f and --with ask programs, --bus and -p who is on a bus; use one or the other")
        }
        _ = try commands()
    }

    private var isOnBus: Bool { bus.bus != nil || bus.project.project != nil }

    /// Asks for it; services that contradict each other are told on standard error.
    /// - Throws: ``CommandErrors`` that name all that do not answer.
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
                code: "no-contract", "nobody on this bus has told what it receives and sends",
                recovery: "start the services, or ask those of a compose file with -f")
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
                throw ValidationError("--with '\(client)' is no command: it is empty, or a quote in it is not closed")
            }
            return words
        }
    }
}

/// A contract in a file.
enum ContractFile {
    /// Where a project keeps the one that its changes are held to.
    static let standard = "config/contract.json"

    /// Reads a file, or for `-` standard input to its end.
    /// - Throws: ``CommandError`` when that cannot be done, or is no contract.
    static func read(_ path: String) throws -> AppContract {
        if path == "-" { return try parse(Data(StandardInput.text().utf8), called: "standard input") }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandError(
                code: "unreadable-file", "there is no file \(path), or it cannot be read",
                recovery: "write one with 'segue contract export -o \(path)'", status: .noInput)
        }
        return try parse(data, called: path)
    }

    private static func parse(_ data: Data, called name: String) throws(CommandError) -> AppContract {
        do {
            return try AppContract(parsing: data)
        } catch {
            throw CommandError(
                code: "no-contract", "\(name) is no contract: \(error)".printable,
                recovery: "write one with 'segue contract export -o FILE'", status: .dataError)
        }
    }

    /// As it is written: indented, with sorted keys, so that a change of it can be read line by line.
    static func text(of contract: AppContract) throws -> String {
        try DataPrinter.indented(contract.asyncAPI) + "\n"
    }
}

/// The contracts of the services on a bus, merged.
struct BusContract {
    let contract: AppContract
    /// A line for each message that two of them do not agree about.
    let conflicts: [String]
    /// A line for each contract that cannot be read.
    let unreadable: [String]

    /// - Throws: ``BusError`` if the bus does not answer.
    static func read(_ bus: any EventBus) async throws -> BusContract {
        var merger = ContractMerger(title: "the services on the bus")
        var contracts: [Document.ServiceContract] = []
        var unreadable: [String] = []
        for document in try await bus.documents(matching: [.type(Document.ServiceContract.self)]) {
            do {
                contracts.append(try document.decode(Document.ServiceContract.self))
            } catch {
                unreadable.append(line(on: document, error))
            }
        }
        for contract in contracts.sorted(by: { ($0.name, $0.instance ?? "") < ($1.name, $1.instance ?? "") }) {
            merger.add(contract, as: contract.name.printable)
        }
        return BusContract(contract: merger.contract, conflicts: merger.conflicts, unreadable: unreadable)
    }

    private static func line(on document: Envelope, _ error: any Error) -> String {
        let key = document.attributes.key.map { "[\($0)]" } ?? ""
        let place = document.position.map { " at \($0)" } ?? ""
        let reason = (error as? BusError)?.message ?? "\(error)"
        return "the contract \(document.type)\(key) of \(document.attributes.source)\(place) is left out: \(reason)"
            .printable
    }
}

/// Merges contracts, and notes where they do not agree.
struct ContractMerger {
    private(set) var contract: AppContract
    private(set) var conflicts: [String] = []

    init(title: String) {
        contract = AppContract(title: title)
    }

    mutating func add(_ other: Document.ServiceContract, as name: String) {
        conflicts += contract.add(other, as: name).map { type in
            "\(name) says something else of \(type) than a service before it, whose word is kept; build them alike"
        }
    }
}
