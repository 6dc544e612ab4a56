internal import AppContract
internal import Contracts
internal import EventBus
internal import Monitor

/// What those say who are on a bus.
enum BusContract {
    /// - Returns: also a line for each message that two of them do not agree about.
    static func read(_ bus: any EventBus) async throws -> (contract: AppContract, conflicts: [String]) {
        var merger = ContractMerger(title: "the services on the bus")
        let documents = try await bus.documents(matching: [.type(Document.ServiceContract.self)])
        let contracts = documents.compactMap { try? $0.decode(Document.ServiceContract.self) }
        for contract in contracts.sorted(by: { ($0.name, $0.instance ?? "") < ($1.name, $1.instance ?? "") }) {
            merger.add(contract, as: contract.name.printable)
        }
        return (merger.contract, merger.conflicts)
    }
}
