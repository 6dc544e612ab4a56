package import Contracts
package import EventBus
package import FlowReview
internal import Foundation
internal import Navigation
package import Support

/// The merged contracts of the services of an app: the messages that each service receives and sends, and their
/// schemas.
package struct AppContract: Hashable, Sendable {
    /// The messages that one service, or another program of the app, receives and sends.
    package struct Party: Hashable, Sendable {
        package var receives: Set<MessageType> = []
        package var sends: Set<MessageType> = []
        /// The durable consumers that it can run. Nil for one consumer with the party's name.
        package var consumers: Set<String>?
        /// The types that the handler of each type sends. Nil if the party does not declare them all.
        package var handlers: [MessageType: Set<MessageType>]?
    }

    package let title: String
    package private(set) var version: String
    package private(set) var parties: [String: Party] = [:]
    package private(set) var messages: [MessageType: MessageContract] = [:]

    package init(title: String, version: String = "") {
        self.title = title
        self.version = version
    }

    init(title: String, version: String, messages: [MessageType: MessageContract], parties: [String: Party]) {
        self.init(title: title, version: version)
        (self.messages, self.parties) = (messages, parties)
    }

    /// Adds the contract of a service. Contracts with the same name are merged.
    ///
    /// - Returns: The types of the messages whose schemas differ from the schemas in contracts that were added before.
    ///   The earlier schemas are kept.
    /// - Throws: ``Unreadable`` if the name, or the name of a durable consumer, is invalid. Nothing is added then.
    @discardableResult
    package mutating func add(
        _ contract: Document.ServiceContract, as name: String
    ) throws(Unreadable) -> [MessageType] {
        try Self.check(name, consumers: contract.consumers ?? [])
        if version.compare(contract.version, options: .numeric) == .orderedAscending { version = contract.version }
        let handlers = contract.handlers.flatMap(Party.handlers)
        if let known = parties[name] {
            // What one of the programs sends may come from either.
            parties[name]?.handlers = known.handlers.flatMap { known in
                handlers.map { known.merging($0) { $0.union($1) } }
            }
        } else {
            parties[name] = Party(handlers: handlers)
        }
        parties[name, default: Party()].receives.formUnion(contract.receives.map(\.type))
        parties[name, default: Party()].sends.formUnion(contract.sends.map(\.type))
        if let consumers = contract.consumers {
            let known = parties[name]?.consumers ?? []
            parties[name]?.consumers = known.union(consumers)
        }
        return (contract.receives + contract.sends).filter { !merge($0) }.map(\.type)
    }

    /// Checks the names of a service and of its durable consumers, which become parts of other files. The names of
    /// messages cannot be invalid: ``MessageType`` checks them.
    static func check(_ service: String, consumers: some Sequence<String>) throws(Unreadable) {
        if let name = ([service] + consumers).first(where: { !ServiceName.isValid($0) }) {
            let kind = name == service ? "a service" : "a durable consumer of '\(service)'"
            throw Unreadable(description: "'\(name)' is not the name of \(kind); \(ServiceName.rule)")
        }
    }

    /// - Returns: False if a schema differs from the known schema.
    private mutating func merge(_ message: MessageContract) -> Bool {
        guard var known = messages[message.type] else {
            messages[message.type] = message
            return true
        }
        known.data = known.data ?? message.data
        known.answer = known.answer ?? message.answer
        known.line = known.line ?? message.line
        messages[message.type] = known
        return known.data == message.data ?? known.data && known.answer == message.answer ?? known.answer
    }

    /// The names of the services that receive a message, in alphabetical order.
    package func receivers(of type: MessageType) -> [String] {
        parties.filter { $0.value.receives.contains(type) }.keys.sorted()
    }

    /// The names of the services that send a message, in alphabetical order.
    package func senders(of type: MessageType) -> [String] {
        parties.filter { $0.value.sends.contains(type) }.keys.sorted()
    }

    /// The types of all messages, in alphabetical order.
    package var types: [MessageType] { messages.keys.sorted { $0.description < $1.description } }

    /// The messages and services against which flows are checked.
    package var catalogue: MessageCatalogue {
        // Coordinators, which publish navigation states, are left out. They receive each type that a flow names, also a
        // misspelt one. A command may be known only to flows.
        let services = parties.filter { !$0.value.sends.contains(Document.NavigationState.type) }
        let known = Set(parties.values.flatMap(\.sends)).union(services.values.flatMap(\.receives))
        var data: [String: JSONSchema] = [:]
        for (type, message) in messages where message.data != nil || type.kind == .command || known.contains(type) {
            data[type.description] = message.data ?? .any
        }
        let coordinators = parties.values.filter { $0.sends.contains(Document.NavigationState.type) }
        let flowCommands = coordinators.flatMap(\.receives).filter { $0.kind == .command }
        return MessageCatalogue(
            data,
            services: services.mapValues { party in
                MessageCatalogue.Service(
                    receives: Set(party.receives.map(\.description)),
                    outcomes: Set(party.outcomes.map(\.description)), sends: Set(party.sends.map(\.description)),
                    answers: party.handlers.map { handlers in
                        Dictionary(
                            uniqueKeysWithValues: handlers.map { ($0.description, Set($1.map(\.description))) })
                    })
            }, flowCommands: Set(flowCommands.map(\.description)))
    }
}

extension AppContract.Party {
    /// The handlers of a service's contract, without names that no message can have. Nil if there are none.
    fileprivate static func handlers(_ contract: [String: [String]]) -> [MessageType: Set<MessageType>]? {
        let handlers = contract.compactMap { type, sent in
            MessageType(type).map { ($0, Set(sent.compactMap { MessageType($0) })) }
        }
        return handlers.isEmpty ? nil : Dictionary(uniqueKeysWithValues: handlers)
    }

    /// The events and errors that a flow can react to. `MessageDiscarded` is left out.
    fileprivate var outcomes: Set<MessageType> {
        sends.filter { ($0.kind == .event || $0.kind == .error) && $0 != DomainEvent.MessageDiscarded.type }
    }
}

extension JSONSchema {
    /// The names of an object's members. Nil if the schema is not an object with known members.
    package var fields: Set<String>? { members.map { Set($0.keys) } }
}
