internal import Contracts
internal import EventBus

/// A message's type, as it is to be declared in Swift.
package struct MessageName: Hashable, Sendable {
    let type: MessageType

    /// - Throws: ``ScaffoldError`` when it is none that an app declares.
    package init(_ text: String) throws(ScaffoldError) {
        guard let type = MessageType(text), type.name.first?.isUppercase == true,
            !["Any", "Protocol", "Self", "Type"].contains(type.name)
        else {
            throw ScaffoldError(
                "'\(text)' is not a message's type",
                recovery: "write it like command.CoffeeOrdered or event.CoffeeServed")
        }
        guard type.kind != .error else {
            throw ScaffoldError(
                "\(text) would be a second kind of error",
                recovery:
                    "throw ApplicationError with a code of your own, as in ApplicationError(code: \"coffee.unknown\", …)"
            )
        }
        self.type = type
    }

    var name: String { type.name }
    /// Whether every app has it already.
    var isOfPlatform: Bool { PlatformMessages.all.contains { $0.type == type } }
    /// In Swift: `Command.CoffeeOrdered`.
    var swift: String { "\(role.namespace).\(name)" }

    /// How messages of a kind are declared.
    struct Role {
        /// The enum that they are in.
        let namespace: String
        let conformance: String
        /// Where they lie, if the vocabulary has folders for the kinds.
        let folder: String
        /// What is to be said of each.
        let hint: String
    }

    var role: Role {
        switch type.kind {
        case .command:
            Role(
                namespace: "Command", conformance: "CommandMessage", folder: "Commands",
                hint: "what a person wants with it")
        case .event, .error:
            Role(namespace: "DomainEvent", conformance: "EventMessage", folder: "Events", hint: "what has happened")
        case .document:
            Role(namespace: "Document", conformance: "DocumentMessage", folder: "Documents", hint: "what is true now")
        case .query:
            Role(namespace: "Query", conformance: "QueryMessage", folder: "Queries", hint: "what is asked")
        }
    }
}
