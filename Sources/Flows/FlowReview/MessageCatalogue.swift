internal import Navigation
internal import Support

/// The messages of an app with their fields, and the services that send and receive them. A flow does not contain this
/// information. A review compares the flow with the catalogue.
package struct MessageCatalogue: Hashable, Sendable {
    /// The names of the fields of each message, by type. Nil if the message may have any fields.
    package let fields: [String: Set<String>?]
    /// The app's services, by name. The coordinators are not included.
    package let services: [String: Service]

    /// The messages of one service.
    package struct Service: Hashable, Sendable {
        /// The types of the messages that it handles.
        package var receives: Set<String>
        /// The types of all events and errors that it sends, without `event.MessageDiscarded`.
        package var outcomes: Set<String>

        package init(receives: Set<String> = [], outcomes: Set<String> = []) {
            self.receives = receives
            self.outcomes = outcomes
        }
    }

    /// Creates a catalogue. Without services, the review leaves out the checks of services.
    package init(_ fields: [String: Set<String>?], services: [String: Service] = [:]) {
        self.fields = fields
        self.services = services
    }
}

extension FlowReviewer {
    /// Compares the flow with the app's messages and services.
    mutating func review(_ catalogue: MessageCatalogue) {
        reviewMessages(catalogue)
        reviewServices(catalogue)
    }

    /// Finds messages and fields that the app does not have.
    private mutating func reviewMessages(_ catalogue: MessageCatalogue) {
        for screen in flow.screens.values.sorted(by: { $0.name < $1.name }) {
            for type in screen.sends { review(type, catalogue, at: "screens.\(screen.name).sends") }
        }
        for (rule, transition) in flow.placedRules { review(transition, catalogue, at: rule.place) }
        for (index, link) in flow.links.enumerated() {
            for (number, command) in link.sends.enumerated() {
                let place = "links[\(index)].send[\(number)]"
                review(command.type, catalogue, at: place)
                for field in command.data.keys.sorted() { review(field, of: command.type, catalogue, at: place) }
            }
        }
    }

    private mutating func review(_ rule: Flow.Transition, _ catalogue: MessageCatalogue, at place: String) {
        // The end of a child flow is not a message of the bus.
        let isEnding = Flow.Ending(rawValue: rule.on) != nil
        if !isEnding { review(rule.on, catalogue, at: "\(place).on") }
        for field in rule.fields.keys.sorted() where !isEnding {
            review(field, of: rule.on, catalogue, at: "\(place).where.\(field)")
        }
        let data = isEnding ? nil : rule.on
        review(rule.actions, Sources(data: data, answer: rule.guard?.accept.on), catalogue, at: "\(place).do")
        guard let condition = rule.guard else { return }
        let place = "\(place).guard"
        for (name, answer) in [("accept", condition.accept), ("reject", condition.reject)] {
            guard let answer else { continue }
            review(answer.on, catalogue, at: "\(place).\(name)")
            for field in answer.fields.keys.sorted() {
                review(field, of: answer.on, catalogue, at: "\(place).\(name).where.\(field)")
            }
        }
        if let ask = condition.ask {
            review(.send(ask.type, data: ask.data), Sources(data: data), catalogue, at: "\(place).ask")
        }
        let rejected = Sources(data: data, answer: condition.reject?.on)
        review(condition.rejected, rejected, catalogue, at: "\(place).rejected")
        review(condition.expired, Sources(data: data), catalogue, at: "\(place).expired")
    }

    /// The types of the messages from which templates take `${data…}` and `${answer…}`. Nil if there is no such
    /// message, or if its fields are not checked.
    private struct Sources {
        var data: String?
        var answer: String?
    }

    private mutating func review(
        _ actions: [Flow.Action], _ sources: Sources, _ catalogue: MessageCatalogue, at place: String
    ) {
        for (index, action) in actions.enumerated() {
            review(action, sources, catalogue, at: "\(place)[\(index)]")
        }
    }

    private mutating func review(
        _ action: Flow.Action, _ sources: Sources, _ catalogue: MessageCatalogue, at place: String
    ) {
        switch action {
        case .send(let type, let data):
            review(type, catalogue, at: place)
            for field in (data.objectValue ?? [:]).keys.sorted() { review(field, of: type, catalogue, at: place) }
        case .present(_, _, let options), .presentFlow(_, _, _, let options):
            for type in (options.buttons ?? []).compactMap(\.sends) { review(type, catalogue, at: "\(place).buttons") }
        default: break
        }
        for template in action.json.texts.compactMap({ try? Template($0) }) {
            for name in template.places(in: .data) {
                if let type = sources.data { review(name, of: type, catalogue, at: place) }
            }
            for name in template.places(in: .answer) {
                if let type = sources.answer { review(name, of: type, catalogue, at: place) }
            }
        }
    }

    private mutating func review(_ type: String, _ catalogue: MessageCatalogue, at place: String) {
        guard catalogue.fields[type] == nil else { return }
        let advice = Spelling.nearest(to: type, in: catalogue.fields.keys).map { "did you mean '\($0)'?" }
        let missing = "declare it in a service, or remove it"
        warn("the app has no message '\(type)'; \(advice ?? missing)", at: place)
    }

    /// Warns if the message has no such field.
    ///
    /// - Parameter path: A dotted path. Its first name is the field.
    private mutating func review(
        _ path: String, of type: String, _ catalogue: MessageCatalogue, at place: String
    ) {
        // An unknown message has been reported already. If only the type of a message is known, the message may have
        // any fields.
        guard case let fields?? = catalogue.fields[type], let field = path.split(separator: ".").first.map(String.init),
            !fields.contains(field)
        else { return }
        warn("'\(type)' has no field '\(field)'; \(Spelling.advice(for: field, among: fields))", at: place)
    }

    /// Finds commands of screens that no service and no rule handles, events and errors of services that nothing
    /// handles, and entries of `ignores` that no service sends.
    mutating func reviewServices(_ catalogue: MessageCatalogue) {
        if catalogue.services.isEmpty { return }
        let answered = flow.messageTypes
        let served = catalogue.services.values.reduce(answered) { $0.union($1.receives) }
        for screen in flow.screens.values.sorted(by: { $0.name < $1.name }) {
            // An unknown message has been reported already.
            for type in screen.sends where !served.contains(type) && catalogue.fields[type] != nil {
                warn("no service and no rule handles '\(type)'; add one", at: "screens.\(screen.name).sends")
            }
        }
        reviewOutcomes(catalogue, answered)
        let told = catalogue.services.values.reduce(into: Set()) { $0.formUnion($1.outcomes) }
        for type in flow.ignores where !told.contains(type) {
            let advice = Spelling.nearest(to: type, in: told).map { "did you mean '\($0)'?" } ?? "remove it"
            warn("no service sends '\(type)'; \(advice)", at: "ignores")
        }
    }

    /// Notes the events and errors that no rule answers, that no other service receives and that are not in `ignores`.
    /// A service is skipped if it receives no command of the flow and sends no message that the flow answers, because
    /// the app may have the service for other flows.
    private mutating func reviewOutcomes(_ catalogue: MessageCatalogue, _ answered: Set<String>) {
        let sent = Set(flow.placedRules.flatMap(\.transition.possibleActions).compactMap(\.command))
            .union(flow.links.flatMap(\.sends).map(\.type)).union(senders.keys)
        var seen = answered.union(flow.ignores)
        for (name, service) in catalogue.services.sorted(by: { $0.key < $1.key }) {
            let isConcerned = !service.receives.isDisjoint(with: sent) || !service.outcomes.isDisjoint(with: answered)
            guard isConcerned else { continue }
            let heard = catalogue.services.filter { $0.key != name }.values.reduce(seen) { $0.union($1.receives) }
            for type in service.outcomes.subtracting(heard).sorted() {
                note(
                    "no rule answers '\(type)' of \(name); add one, or list the type under 'ignores'", at: "transitions"
                )
                seen.insert(type)
            }
        }
    }
}

extension Template {
    /// The paths that the template's placeholders have within one scope, without the name of the scope.
    fileprivate func places(in scope: Scope) -> [String] {
        segments.compactMap { segment in
            guard case .place(let place) = segment, place.hasPrefix("\(scope.rawValue).") else { return nil }
            return String(place.dropFirst(scope.rawValue.count + 1))
        }
    }
}

extension JSONValue {
    /// All strings in the value, in a stable order.
    fileprivate var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .array(let elements): elements.flatMap(\.texts)
        case .object(let members): members.sorted { $0.key < $1.key }.flatMap(\.value.texts)
        default: []
        }
    }
}

extension Flow.Action {
    /// The type of the command that the action sends. Nil if the action is not `send`.
    var command: String? {
        if case .send(let type, _) = self { type } else { nil }
    }
}
