internal import Contracts
package import EventBus
package import Navigation

extension Flow {
    /// The message types that a coordinator of this flow listens to, in alphabetical order: also the one that begins a
    /// session, whether a rule answers that or not.
    package var receives: [MessageType] {
        // The flow's checker lets no type through that is none.
        messageTypes.union([DomainEvent.LaunchFinished.type.description]).sorted().compactMap(MessageType.init)
    }

    /// The message types that a coordinator of this flow publishes.
    package var sends: [MessageType] {
        [
            Document.NavigationState.type, Document.Deadline.type, DomainEvent.URLOpenRequested.type,
            DomainEvent.ScreenDismissed.type,
            DomainEvent.MessageDiscarded.type, Command.ScreenGone.type, ApplicationError.type,
        ] + (guardedRules.isEmpty ? [] : [DomainEvent.GuardDeadlinePassed.type]) + commands
    }

    /// The app's own commands that the rules and links send, in alphabetical order.
    private var commands: [MessageType] {
        let types = allTransitions.flatMap(\.possibleActions).flatMap { action -> [String] in
            switch action {
            case .send(let type, _): [type]
            case .present(_, _, let options): options.buttons?.compactMap(\.sends) ?? []
            default: []
            }
        }
        let linked = links.flatMap { link in
            link.sends.map(\.type) + (link.to.present?.options.buttons?.compactMap(\.sends) ?? [])
        }
        return Set(types + linked).sorted().compactMap(MessageType.init)
    }
}
