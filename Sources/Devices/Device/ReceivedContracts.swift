internal import Contracts
internal import EventBus
internal import Support

/// The messages that the processes on the bus receive. A device checks the fields that a person has entered against their
/// schemas.
struct ReceivedContracts: Sendable {
    /// The messages of each contract, with the schema of their data if it has one. By the contract's key.
    private var received: [String: [MessageType: JSONSchema?]] = [:]

    /// Stores or removes the contract in a message.
    /// - Throws: ``BusError`` if the contract cannot be read.
    mutating func receive(_ message: Envelope) throws {
        let key = message.attributes.key ?? ""
        received[key] = nil
        if message.isTombstone { return }
        let contract = try message.decode(Document.ServiceContract.self)
        received[key] = Dictionary(contract.receives.map { ($0.type, $0.data) }) { first, _ in first }
    }

    /// True if a process receives messages of this type.
    func contains(_ type: MessageType) -> Bool {
        received.values.contains { $0.keys.contains(type) }
    }

    /// The schema of a command's data, from the contract with the first key. Nil if no contract describes the command.
    func schema(of command: MessageType) -> JSONSchema? {
        schemas(of: command).first
    }

    /// The reason why no service can read the data of a command. Nil if a service can, or if no contract describes it.
    func mistake(in command: Envelope) -> String? {
        let described = schemas(of: command.type)
        guard let value = try? JSONValue(parsing: command.data), !described.isEmpty else { return nil }
        let problems = described.map { $0.problems(with: value) }
        guard problems.allSatisfy({ !$0.isEmpty }) else { return nil }
        return "\(command.type) was not sent: \(problems[0].map(\.description).joined(separator: ", "))"
    }

    /// The schemas of a type's data, in the order of the contracts' keys.
    private func schemas(of type: MessageType) -> [JSONSchema] {
        received.sorted { $0.key < $1.key }.compactMap { $0.value[type] ?? nil }
    }
}
