internal import AppContract
internal import Contracts
internal import EventBus
internal import Monitor
internal import Navigation

/// The message types that the processes on a bus know, by their contracts and presences.
struct KnownMessages {
    let contract: AppContract
    private let presences: [Document.Presence]
    /// The names of the coordinators that run.
    let names: CoordinatorNames

    /// Reads the contracts and presences. Reports contracts that cannot be read on standard error.
    init(on bus: any EventBus) async throws {
        let found = try await BusContract.read(bus)
        await Console.error.tell(found.unreadable)
        contract = found.contract
        let documents = try await bus.documents(matching: [.type(Document.Presence.self)])
        presences = documents.compactMap { try? $0.decode(Document.Presence.self) }
        names = try await CoordinatorNames(on: bus)
    }

    /// The types of all messages that a process receives or sends, or did before it stopped.
    var types: Set<String> {
        Set(contract.types.map(\.description)).union(presences.flatMap { $0.receives + $0.sends })
    }

    /// The names of the processes that send a message, in alphabetical order.
    func senders(of type: MessageType) -> [String] {
        processes(contract.senders(of: type)) { $0.sends.contains(type.description) }
    }

    /// The names of the processes that receive a message, in alphabetical order.
    func receivers(of type: MessageType) -> [String] {
        processes(contract.receivers(of: type)) { $0.receives.contains(type.description) }
    }

    /// - Parameter contracted: the names in the contracts. A process that also has a presence is named by
    ///   ``CoordinatorNames``.
    private func processes(_ contracted: [String], _ handles: (Document.Presence) -> Bool) -> [String] {
        let running = presences.filter(handles)
        let stopped = Set(contracted).subtracting(running.map(\.name))
        return Set(running.map { names.name(of: $0.name, instance: $0.instance) }).union(stopped).sorted()
    }
}
