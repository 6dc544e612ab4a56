internal import Contracts
internal import EventBus
internal import Support

/// The schemas of the commands that the services on the bus receive. A device checks the fields that a person has
/// entered against them.
struct ReceivedContracts: Sendable {
    /// The schemas of each contract, by the contract's key.
    private var schemas: [String: [MessageType: JSONSchema]] = [:]

    /// Stores or removes the contract in a message.
    /// - Throws: ``BusError`` if the contract cannot be read.
    mutating func receive(_ message: Envelope) throws {
        let key = message.attributes.key ?? ""
        schemas[key] = nil
        if message.isTombstone { return }
        let contract = try message.decode(Document.ServiceContract.self)
        let received = contract.receives.compactMap { message in message.data.map { (message.type, $0) } }
        schemas[key] = Dictionary(received) { first, _ in first }
    }

    /// The schema of a command's data, from the contract with the first key. Nil if no contract describes the command.
    func schema(of command: MessageType) -> JSONSchema? {
        schemas.sorted { $0.key < $1.key }.lazy.compactMap { $0.value[command] }.first
    }

    /// The reason why no service can read the data of a command. Nil if a service can, or if no contract describes it.
    func mistake(in command: Envelope) -> String? {
        let described = schemas.sorted { $0.key < $1.key }.compactMap { $0.value[command.type] }
        guard let value = try? JSONValue(parsing: command.data), !described.isEmpty else { return nil }
        let problems = described.map { $0.problems(with: value) }
        guard problems.allSatisfy({ !$0.isEmpty }) else { return nil }
        return "\(command.type) was not sent: \(problems[0].map(\.description).joined(separator: ", "))"
    }
}
