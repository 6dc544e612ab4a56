package import AppContract
internal import Contracts
package import EventBus
package import Foundation
internal import Navigation
internal import Support

/// The message types that the processes on a bus know, by their contracts and presences.
package struct KnownMessages: Sendable {
    package let contract: AppContract
    /// One line for each contract that cannot be read.
    package let unreadable: [String]
    private let presences: [Document.Presence]
    /// The names of the coordinators that run.
    package let names: CoordinatorNames

    /// Reads the contracts and presences.
    package init(on bus: EventBus) async throws {
        let found = try await BusContract.read(bus)
        (contract, unreadable) = (found.contract, found.unreadable)
        let documents = try await bus.documents(matching: [.type(Document.Presence.self)])
        presences = documents.compactMap { try? $0.decode(Document.Presence.self) }
        names = try await CoordinatorNames(on: bus)
    }

    /// The types of all messages that a process receives or sends, or did before it stopped.
    package var types: Set<String> {
        Set(contract.types.map(\.description)).union(presences.flatMap { $0.receives + $0.sends })
    }

    /// The names of the processes that send a message, in alphabetical order.
    package func senders(of type: MessageType) -> [String] {
        processes(contract.senders(of: type)) { $0.sends.contains(type.description) }
    }

    /// The names of the processes that receive a message, in alphabetical order.
    package func receivers(of type: MessageType) -> [String] {
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

extension KnownMessages {
    /// The reason why a message should not be published.
    package struct Mistake: Hashable, Sendable {
        package enum Code: String, Sendable {
            case unknownType = "unknown-type"
            case invalidData = "invalid-data"
            case unreadableContract = "unreadable-contract"
        }

        package let code: Code
        package let message: String
        /// The suggestion of a known type with a similar name. Nil if there is none.
        package let recovery: String?
    }

    /// The reason why a message should not be published: no process knows the type of a command or event, fields of the
    /// data are invalid, or the only description of the data may be in a contract that cannot be read. Nil if there is
    /// none.
    ///
    /// If there is no contract and no presence on the bus, every type is accepted. Data that no contract describes is
    /// not checked.
    package func mistake(in data: Data, of type: MessageType) -> Mistake? {
        let description = contract.messages[type]
        if description == nil, !unreadable.isEmpty {
            return Mistake(
                code: .unreadableContract,
                message: "\(type) cannot be checked: a contract on the bus cannot be read".printable, recovery: nil)
        }
        let known = types
        if [.command, .event].contains(type.kind), !known.isEmpty, !known.contains(type.description) {
            let recovery = Spelling.nearest(to: type.description, in: known).map { "did you mean \($0)?" }
            return Mistake(
                code: .unknownType, message: "no process on the bus knows \(type)".printable, recovery: recovery)
        }
        guard let schema = description?.data, let value = try? JSONValue(parsing: data) else { return nil }
        let problems = schema.problems(with: value)
        if problems.isEmpty { return nil }
        return Mistake(
            code: .invalidData, message: "\(type): \(problems.map(\.description).joined(separator: ", "))".printable,
            recovery: nil)
    }
}
