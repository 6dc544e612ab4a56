internal import Navigation
package import Support

/// The messages of an app with their fields, and the services that send and receive them. A review compares a flow with
/// them.
package struct MessageCatalogue: Hashable, Sendable {
    /// The fields of each message, by type and name. Nil if the message may have any fields.
    package let fields: [String: [String: Field]?]
    /// The app's services, by name, without the processes that run flows.
    package let services: [String: Service]
    /// True if the app may have further messages.
    private(set) var isPartial = false

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

    /// The possible values of a field. Null is always possible.
    package struct Field: Hashable, Sendable {
        /// The JSON type of the values. Nil if the field may have values of any type.
        package var kind: Kind?
        /// All possible values. Nil if the field may have other values.
        package var values: [JSONValue]?
        /// The fields of an object, by name. Nil if it may have any fields, and for a field of another kind.
        package var members: [String: Field]?

        package init(_ kind: Kind? = nil, values: [JSONValue]? = nil, members: [String: Field]? = nil) {
            self.kind = kind ?? values?.first.flatMap { Kind(of: $0) }
            self.values = values
            self.members = members
        }
    }

    /// A JSON type.
    package enum Kind: String, Hashable, Sendable {
        case boolean = "a boolean"
        case number = "a number"
        case string = "a string"
        case list = "a list"
        case object = "an object"
    }

    /// Creates a catalogue. Without services, the review leaves out the checks of services.
    package init(_ fields: [String: [String: Field]?], services: [String: Service] = [:]) {
        self.fields = fields
        self.services = services
    }

    /// The catalogue of an app whose messages are not known.
    static let unknown: MessageCatalogue = {
        var catalogue = MessageCatalogue([:])
        catalogue.isPartial = true
        return catalogue
    }()

    /// The fields of the ends of child flows, which are not messages of the bus, by type.
    private static let endings: [String: [String: Field]?] = [
        Flow.Ending.finished.rawValue: ["flow": Field(.string), "run": Field(.string), "result": Field(.object)],
        Flow.Ending.abandoned.rawValue: ["flow": Field(.string), "run": Field(.string)],
    ]

    /// The catalogue with the commands that a flow declares, and with the ends of child flows. The fields of a message
    /// that the catalogue has are kept.
    func adding(_ commands: [String: [String: JSONSchema.Property]]) -> MessageCatalogue {
        let declared = commands.mapValues { Optional($0.mapValues(\.schema.catalogueField)) }
        var catalogue = MessageCatalogue(
            fields.merging(declared) { known, declared in known ?? declared }.merging(Self.endings) { $1 },
            services: services)
        catalogue.isPartial = isPartial
        return catalogue
    }
}

extension JSONSchema {
    /// The values of a field that the schema allows.
    package var catalogueField: MessageCatalogue.Field {
        switch self {
        case .any: MessageCatalogue.Field()
        case .boolean: MessageCatalogue.Field(.boolean)
        case .integer, .number, .range: MessageCatalogue.Field(.number)
        case .string: MessageCatalogue.Field(.string)
        case .enumeration(let values): MessageCatalogue.Field(values: values)
        case .array: MessageCatalogue.Field(.list)
        case .map: MessageCatalogue.Field(.object)
        case .object(let members): MessageCatalogue.Field(.object, members: members.mapValues(\.schema.catalogueField))
        case .nullable(let schema): schema.catalogueField
        }
    }
}

extension FlowReviewer {
    /// Finds declared commands that no rule answers, and those that the app's contract describes differently.
    mutating func reviewCommands(_ catalogue: MessageCatalogue?) {
        for (type, fields) in flow.commands.sorted(by: { $0.key < $1.key }) {
            let keyPath = "commands.\(type)"
            if !flow.messageTypes.contains(type) {
                let nearest = Spelling.nearest(to: type, in: flow.messageTypes.filter { $0.begins(with: "command.") })
                let advice = nearest.map { "did you mean '\($0)'?" } ?? "add one, or remove the type here"
                warn(.unusedCommand, "no rule answers '\(type)'; \(advice)", at: keyPath)
            }
            guard case let known?? = catalogue?.fields[type],
                let (field, difference) = fields.mapValues(\.schema.catalogueField).difference(from: known)
            else { continue }
            warn(
                .contradictedCommand,
                "the contract describes '\(type)' differently: \(difference); correct one of them",
                at: "\(keyPath).\(field)")
        }
    }

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
        for (rule, transition) in flow.placedRules { review(transition, catalogue, at: rule.keyPath) }
        for (index, link) in flow.links.enumerated() {
            for (number, command) in link.sends.enumerated() {
                let keyPath = "links[\(index)].send[\(number)]"
                review(command.type, catalogue, at: keyPath)
                for field in command.data.keys.sorted() { review(field, of: command.type, catalogue, at: keyPath) }
            }
        }
    }

    private mutating func review(_ rule: Flow.Transition, _ catalogue: MessageCatalogue, at keyPath: String) {
        for type in rule.on {
            review(type, catalogue, at: "\(keyPath).on")
            review(rule.fields, of: type, catalogue, at: "\(keyPath).where")
        }
        review(
            rule.actions, sources: Sources(data: rule.on, answer: rule.guard?.accept.on ?? []), catalogue: catalogue,
            at: "\(keyPath).do")
        guard let condition = rule.guard else { return }
        let keyPath = "\(keyPath).guard"
        for (name, answer) in [("accept", condition.accept), ("reject", condition.reject)] {
            guard let answer else { continue }
            for type in answer.on {
                review(type, catalogue, at: "\(keyPath).\(name)")
                review(answer.fields, of: type, catalogue, at: "\(keyPath).\(name).where")
            }
        }
        if let ask = condition.ask {
            review(
                .send(type: ask.type, data: ask.data), sources: Sources(data: rule.on), catalogue: catalogue,
                at: "\(keyPath).ask")
        }
        let rejected = Sources(data: rule.on, answer: condition.reject?.on ?? [])
        review(condition.rejected, sources: rejected, catalogue: catalogue, at: "\(keyPath).rejected")
        review(condition.expired, sources: Sources(data: rule.on), catalogue: catalogue, at: "\(keyPath).expired")
    }

    /// The types of the messages from which templates take `${data…}` and `${answer…}`.
    private struct Sources {
        var data: [String]
        var answer: [String] = []
    }

    private mutating func review(
        _ actions: [Flow.Action], sources: Sources, catalogue: MessageCatalogue, at keyPath: String
    ) {
        for (index, action) in actions.enumerated() {
            review(action, sources: sources, catalogue: catalogue, at: "\(keyPath)[\(index)]")
        }
    }

    private mutating func review(
        _ action: Flow.Action, sources: Sources, catalogue: MessageCatalogue, at keyPath: String
    ) {
        switch action {
        case .send(let type, let data):
            review(type, catalogue, at: keyPath)
            for field in (data.objectValue ?? [:]).keys.sorted() { review(field, of: type, catalogue, at: keyPath) }
        case .present(_, as: _, options: let options), .presentFlow(_, arguments: _, as: _, options: let options):
            for (index, button) in (options.buttons ?? []).enumerated() {
                if let type = button.sends { review(type, catalogue, at: "\(keyPath).buttons[\(index)].sends") }
            }
        default: break
        }
        for template in action.json.texts.compactMap({ try? Template($0) }) {
            for name in template.paths(in: .data) {
                for type in sources.data { review(name, of: type, catalogue, at: keyPath) }
            }
            for name in template.paths(in: .answer) {
                for type in sources.answer { review(name, of: type, catalogue, at: keyPath) }
            }
        }
    }

    private mutating func review(_ type: String, _ catalogue: MessageCatalogue, at keyPath: String) {
        guard !catalogue.isPartial, catalogue.fields[type] == nil else { return }
        let advice = Spelling.nearest(to: type, in: catalogue.fields.keys).map { "did you mean '\($0)'?" }
        let missing = "declare it in a service, or remove it"
        warn(.unknownMessage, "the app has no message '\(type)'; \(advice ?? missing)", at: keyPath)
    }

    /// Warns if the message has no such field.
    ///
    /// - Parameter path: A dotted path. Its first name is the field.
    private mutating func review(
        _ path: String, of type: String, _ catalogue: MessageCatalogue, at keyPath: String
    ) {
        // An unknown message has been reported already. If only the type of a message is known, the message may have
        // any fields.
        guard case let fields?? = catalogue.fields[type], let field = path.split(scalar: ".").first.map(String.init),
            fields[field] == nil
        else { return }
        let advice = Spelling.advice(for: field, among: fields.keys)
        warn(.unknownField, "'\(type)' has no field '\(field)'; \(advice)", at: keyPath)
    }

    /// Reviews conditions on a message's fields.
    private mutating func review(
        _ fields: [String: Flow.Match], of type: String, _ catalogue: MessageCatalogue, at keyPath: String
    ) {
        for (path, match) in fields.sorted(by: { $0.key < $1.key }) {
            let keyPath = "\(keyPath).\(path)"
            review(path, of: type, catalogue, at: keyPath)
            guard let field = catalogue.field(path, of: type) else { continue }
            if let kind = field.kind, kind != .number, match.atLeast != nil || match.atMost != nil {
                warn(
                    .unknownValue,
                    "'\(path)' of '\(type)' is \(kind.rawValue), and 'atLeast' and 'atMost' compare numbers; correct it",
                    at: keyPath)
            }
            for value in (match.anyOf ?? []) + match.noneOf {
                if let problem = field.problem(with: value) {
                    warn(.unknownValue, "'\(path)' of '\(type)' is never \(value.description): \(problem)", at: keyPath)
                }
            }
        }
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
                warn(
                    .unhandledCommand, "no service and no rule handles '\(type)'; add one",
                    at: "screens.\(screen.name).sends")
            }
        }
        reviewOutcomes(catalogue, answered)
        let told = catalogue.services.values.reduce(into: Set()) { $0.formUnion($1.outcomes) }
        for type in flow.ignores where !told.contains(type) {
            let advice = Spelling.nearest(to: type, in: told).map { "did you mean '\($0)'?" } ?? "remove it"
            warn(.unusedIgnore, "no service sends '\(type)'; \(advice)", at: "ignores")
        }
    }

    /// Adds notes about the events and errors that no rule answers, that no other service receives and that are not in
    /// `ignores`.
    /// A service is skipped if it receives no command of the flow and sends no message that the flow answers.
    private mutating func reviewOutcomes(_ catalogue: MessageCatalogue, _ answered: Set<String>) {
        let sent = Set(flow.placedRules.flatMap(\.transition.possibleActions).compactMap(\.command))
            .union(flow.links.flatMap(\.sends).map(\.type)).union(senders.keys)
        var seen = answered.union(flow.ignores)
        for (name, service) in catalogue.services.sorted(by: { $0.key < $1.key }) {
            let isConcerned = !service.receives.isDisjoint(with: sent) || !service.outcomes.isDisjoint(with: answered)
            guard isConcerned else { continue }
            let received = catalogue.services.filter { $0.key != name }.values.reduce(seen) { $0.union($1.receives) }
            for type in service.outcomes.subtracting(received).sorted() {
                addNote(
                    .unansweredMessage,
                    "no rule answers '\(type)' of \(name); add one, or list the type under 'ignores'", at: "transitions"
                )
                seen.insert(type)
            }
        }
    }
}

extension MessageCatalogue {
    /// The field at a dotted path of a message's data. Nil if the catalogue does not know it.
    fileprivate func field(_ path: String, of type: String) -> Field? {
        guard case let fields?? = fields[type] else { return nil }
        var field: Field? = Field(.object, members: fields)
        for name in path.split(scalar: ".") { field = field?.members?[String(name)] }
        return field
    }
}

extension [String: MessageCatalogue.Field] {
    /// The first difference between the fields that a flow declares and those of the contract: the path of the field,
    /// and the difference in words. Nil if there is none.
    fileprivate func difference(from known: Self, in parent: String = "") -> (field: String, difference: String)? {
        for name in Set(keys).union(known.keys).sorted() {
            let path = parent + name
            guard let declared = self[name] else { return (path, "it has a field '\(path)'") }
            guard let known = known[name] else { return (path, "it has no field '\(path)'") }
            if let kind = declared.kind, let other = known.kind, kind != other {
                return (path, "there '\(path)' is \(other.rawValue), and here \(kind.rawValue)")
            }
            if let values = declared.values, let others = known.values, Set(values) != Set(others) {
                return (path, "there '\(path)' is one of \(others.map(\.description).joined(separator: ", "))")
            }
            if let members = declared.members, let others = known.members,
                let inner = members.difference(from: others, in: "\(path).")
            {
                return inner
            }
        }
        return nil
    }
}

extension MessageCatalogue.Field {
    /// The reason why the field never has a value, with the remedy. Nil if it may have the value.
    fileprivate func problem(with value: JSONValue) -> String? {
        if value.isNull { return nil }
        if let values {
            if values.contains(value) { return nil }
            let names = values.map { $0.stringValue ?? $0.description }
            let advice = value.stringValue.map { Spelling.advice(for: $0, among: names) }
            return "it is one of \(names.joined(separator: ", ")); \(advice ?? "correct it")"
        }
        guard let kind, let other = MessageCatalogue.Kind(of: value), other != kind else { return nil }
        return "it is \(kind.rawValue), and the value is \(other.rawValue); correct it"
    }
}

extension MessageCatalogue.Kind {
    fileprivate init?(of value: JSONValue) {
        switch value {
        case .null: return nil
        case .bool: self = .boolean
        case .integer, .number: self = .number
        case .string: self = .string
        case .array: self = .list
        case .object: self = .object
        }
    }
}

extension Template {
    /// The paths that the template's placeholders have within one scope, without the name of the scope.
    func paths(in scope: Scope) -> [String] {
        segments.compactMap { segment in
            guard case .placeholder(let keyPath) = segment else { return nil }
            return keyPath.removing(prefix: "\(scope.rawValue).").map(String.init)
        }
    }
}

extension JSONValue {
    /// All strings in the value, in a stable order.
    var texts: [String] {
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
        if case .send(type: let type, data: _) = self { type } else { nil }
    }
}
