package import AppContract
package import Contracts
package import EventBus
internal import Navigation
internal import Support

/// The contracts of the services on a bus, merged.
package struct BusContract: Sendable {
    package let contract: AppContract
    /// One line for each description of a message that differs from an earlier service's description.
    package let conflicts: [String]
    /// One line for each contract that cannot be read.
    package let unreadable: [String]

    /// Reads all contracts that are published on the bus.
    /// - Throws: ``BusError`` if the bus does not answer.
    package static func read(_ bus: EventBus) async throws -> BusContract {
        var merger = ContractMerger(title: "the services on the bus")
        var contracts: [(contract: Document.ServiceContract, document: Envelope)] = []
        var unreadable: [String] = []
        for document in try await bus.documents(matching: [.type(Document.ServiceContract.self)]) {
            do {
                contracts.append((try document.decode(Document.ServiceContract.self), document))
            } catch {
                unreadable.append(line(on: document, error))
            }
        }
        contracts.sort {
            ($0.contract.name, $0.contract.instance ?? "") < ($1.contract.name, $1.contract.instance ?? "")
        }
        for (contract, document) in contracts {
            do {
                try merger.add(contract, as: contract.name)
            } catch {
                unreadable.append(line(on: document, error))
            }
        }
        return BusContract(contract: merger.contract, conflicts: merger.conflicts, unreadable: unreadable)
    }

    private static func line(on document: Envelope, _ error: any Error) -> String {
        let key = document.attributes.key.map { "[\($0)]" } ?? ""
        let place = document.position.map { " at \($0)" } ?? ""
        let reason = (error as? BusError)?.message ?? "\(error)"
        return "ignored the contract \(document.type)\(key) of \(document.attributes.source)\(place): \(reason)"
            .printable
    }
}

/// Merges contracts, and lists their contradictions.
package struct ContractMerger: Sendable {
    package private(set) var contract: AppContract
    package private(set) var conflicts: [String] = []

    package init(title: String) {
        contract = AppContract(title: title)
    }

    /// - Throws: ``AppContract/Unreadable`` if a name in the contract is invalid. Nothing is added then.
    package mutating func add(
        _ other: Document.ServiceContract, as name: String
    ) throws(AppContract.Unreadable) {
        conflicts += try contract.add(other, as: name).map { type in
            "\(name) describes \(type) differently from another service, whose description is used; "
                + "build both from the same version of the message"
        }
    }
}
