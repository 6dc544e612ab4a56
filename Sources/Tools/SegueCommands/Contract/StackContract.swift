internal import AppContract
internal import Compose
internal import Contracts

/// What the programs of a compose file say when they are asked: its services, and its clients.
enum StackContract {
    /// Of a service that has no contract to tell, such as a program that is not ours.
    static let label = "segue.contract"

    /// - Returns: also a line for each message that two of them do not agree about.
    /// - Throws: ``CommandErrors`` that name all that do not answer; `ExitCode` when a signal ends it.
    static func read(_ stack: Stack) async throws -> (contract: AppContract, conflicts: [String]) {
        try await Interruption.ending { try await ask(stack) }
    }

    private static func ask(_ stack: Stack) async throws -> (contract: AppContract, conflicts: [String]) {
        var merger = ContractMerger(title: stack.name ?? "an app")
        var errors: [CommandError] = []
        let services = stack.services.filter { $0.labels[label] != "none" }
        for service in services.sorted(by: { $0.name < $1.name }) {
            do throws(CommandError) {
                merger.add(try await ProgramContract(service, of: stack).read(), as: service.name)
            } catch {
                errors.append(error)
            }
        }
        for client in stack.clients {
            do throws(CommandError) {
                let contract = try await ProgramContract(client: client, of: stack).read()
                merger.add(contract, as: contract.name)
            } catch {
                errors.append(error)
            }
        }
        guard errors.isEmpty else { throw CommandErrors(errors: errors) }
        return (merger.contract, merger.conflicts)
    }
}
