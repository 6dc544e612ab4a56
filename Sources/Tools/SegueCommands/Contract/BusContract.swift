internal import AppContract
internal import Contracts
internal import EventBus
internal import Monitor

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
