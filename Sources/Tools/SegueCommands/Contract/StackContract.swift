internal import AppContract
internal import Compose
internal import Contracts

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
