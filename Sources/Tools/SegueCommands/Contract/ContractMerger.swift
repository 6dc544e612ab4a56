internal import AppContract
internal import Contracts

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
