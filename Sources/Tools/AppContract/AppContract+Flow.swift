internal import Contracts
internal import EventBus
package import FlowReview
internal import Navigation

extension AppContract {
    /// As a flow is held to it.
    package var catalogue: MessageCatalogue {
        var fields: [String: Set<String>?] = [:]
        for (type, message) in messages { fields.updateValue(message.data?.fields, forKey: type.description) }
        // What leads from screen to screen hears what its own flow says.
        let services = parties.filter { !$0.value.sends.contains(Document.NavigationState.type) }
        return MessageCatalogue(
            fields,
            services: services.mapValues { party in
                MessageCatalogue.Service(
                    receives: Set(party.receives.map(\.description)),
                    outcomes: Set(party.outcomes.map(\.description)))
            })
    }
}

extension AppContract.Party {
    /// A discarded message is for whoever looks for mistakes.
    fileprivate var outcomes: Set<MessageType> {
        sends.filter { ($0.kind == .event || $0.kind == .error) && $0 != DomainEvent.MessageDiscarded.type }
    }
}

extension JSONSchema {
    /// The names of an object's members; nil where it may have any.
    package var fields: Set<String>? {
        if case .object(let members) = self { Set(members.keys) } else { nil }
    }
}
