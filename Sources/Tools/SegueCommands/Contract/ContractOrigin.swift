internal import AppContract
internal import ArgumentParser
internal import Compose

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
