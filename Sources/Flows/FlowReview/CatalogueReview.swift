package import Navigation
package import Support

extension FlowReviewer {
    /// Finds declared commands that no rule answers, and those that the app's contract describes differently.
    mutating func reviewCommands(_ catalogue: MessageCatalogue?) {
        let answered = Set(flow.allTransitions.flatMap(\.on)).filter { $0.begins(with: "command.") }
        for (type, fields) in flow.commands.sorted(by: { $0.key < $1.key }) {
            let keyPath = "commands.\(type)"
            if !flow.messageTypes.contains(type) {
                let nearest = Spelling.nearest(to: type, in: answered)
                let advice = nearest.map { "did you mean '\($0)'?" } ?? "add one, or remove the type here"
                warn(.unusedCommand, "no rule answers '\(type)'; \(advice)", at: keyPath)
            }
            guard let known = catalogue?.data[type]?.members, let (field, difference) = fields.difference(from: known)
            else { continue }
            warn(
                .contradictedCommand,
                "the contract describes '\(type)' differently: \(difference); correct one of them",
                at: "\(keyPath).\(field)")
        }
    }

    /// Finds messages and fields that the app does not have, and data and arguments of other types than declared.
    mutating func reviewMessages(_ catalogue: MessageCatalogue) {
        for screen in flow.screens.values.sorted(by: { $0.name < $1.name }) {
            for type in screen.sends { review(type, catalogue, at: "screens.\(screen.name).sends") }
        }
        let types = ArgumentTypes(of: flow, senders: senders, openScreens: openScreens, catalogue)
        for (rule, transition) in flow.placedRules {
            reviewConditions(of: transition, catalogue, at: rule.keyPath)
            reviewArgumentConditions(of: transition, at: rule.keyPath)
            let sources = types.sources(of: transition)
            for (list, actions, answer) in transition.answeredActions {
                var sources = sources
                sources.answer = answer.map { catalogue.data[$0] }
                for (index, action) in actions.enumerated() {
                    let keyPath = "\(rule.keyPath).\(list)" + (list == "guard.ask" ? "" : "[\(index)]")
                    reviewTemplates(of: action, on: transition, answer: answer, catalogue, at: keyPath)
                    review(action, sources, types, catalogue, at: keyPath)
                }
            }
        }
        for (index, link) in flow.links.enumerated() {
            let sources = types.sources(of: link)
            for (number, command) in link.sends.enumerated() {
                let data = JSONValue.object(command.data)
                // The checks of the flow have compared the values of the URL with the flow's own commands.
                let isChecked = flow.commands[command.type] != nil
                review(command.type, data, catalogue, at: "links[\(index)].send[\(number)]") {
                    types.type(of: $0, in: sources).map { isChecked ? .any : $0 }
                }
            }
        }
    }

    /// Reviews the types of a rule's messages, and the conditions on their fields.
    private mutating func reviewConditions(
        of rule: Flow.Transition, _ catalogue: MessageCatalogue, at keyPath: String
    ) {
        for type in rule.on {
            review(type, catalogue, at: "\(keyPath).on")
            review(rule.fields, of: type, catalogue, at: "\(keyPath).where")
        }
        guard let condition = rule.guard else { return }
        for (name, answer) in [("accept", condition.accept), ("reject", condition.reject)] {
            guard let answer else { continue }
            for type in answer.on {
                review(type, catalogue, at: "\(keyPath).guard.\(name)")
                review(answer.fields, of: type, catalogue, at: "\(keyPath).guard.\(name).where")
            }
        }
    }

    /// Finds fields in templates that the messages do not have, and templates that are literal text.
    private mutating func reviewTemplates(
        of action: Flow.Action, on rule: Flow.Transition, answer: [String], _ catalogue: MessageCatalogue,
        at keyPath: String
    ) {
        let sources = rule.on.map { (Template.Scope.data, $0) } + answer.map { (.answer, $0) }
        let texts = action.templateTexts
        reviewEscapes(in: texts, at: keyPath)
        for template in texts.compactMap({ try? Template($0) }) {
            for (scope, type) in sources {
                for path in template.paths(in: scope) { review(path, of: type, catalogue, at: keyPath) }
            }
        }
    }

    /// Finds templates that are literal text because of an escaped dollar sign.
    mutating func reviewEscapes(in texts: [String], at keyPath: String) {
        for escaped in texts.compactMap({ Template.escapedPlaceholder(in: $0) }) {
            warn(
                .escapedTemplate,
                "'$\(escaped)' writes the text '\(escaped)'; write '$$\(escaped)' for a dollar sign before the value",
                at: keyPath)
        }
    }

    /// Reviews the type of a message.
    mutating func review(_ type: String, _ catalogue: MessageCatalogue, at keyPath: String) {
        guard !catalogue.isPartial, catalogue.data[type] == nil else { return }
        let advice = Spelling.nearest(to: type, in: catalogue.data.keys).map { "did you mean '\($0)'?" }
        let missing = "declare it in a service, or remove it"
        warn(.unknownMessage, "the app has no message '\(type)'; \(advice ?? missing)", at: keyPath)
    }

    /// Warns if the message has no field at the dotted path.
    private mutating func review(
        _ path: String, of type: String, _ catalogue: MessageCatalogue, at keyPath: String
    ) {
        // An unknown message has been reported already.
        guard case .unknown(let field, let known)? = catalogue.data[type]?.field(at: path) else { return }
        let name = field.cut(atLast: ".").map { String($0.after) } ?? field
        let advice = Spelling.advice(for: name, among: known)
        warn(.unknownField, "'\(type)' has no field '\(field)'; \(advice)", at: keyPath)
    }

    /// Reviews conditions on a message's fields.
    private mutating func review(
        _ fields: [String: Flow.Match], of type: String, _ catalogue: MessageCatalogue, at keyPath: String
    ) {
        for (path, match) in fields.sorted(by: { $0.key < $1.key }) {
            let keyPath = "\(keyPath).\(path)"
            review(path, of: type, catalogue, at: keyPath)
            guard case .found(let schema)? = catalogue.data[type]?.field(at: path) else { continue }
            if ![.number, .any].contains(schema.kind), match.atLeast != nil || match.atMost != nil {
                warn(
                    .unknownValue,
                    "'\(path)' of '\(type)' is \(schema.kind), and 'atLeast' and 'atMost' compare numbers; correct it",
                    at: keyPath)
            }
            for value in (match.anyOf ?? []) + match.noneOf where !value.isNull {
                guard let problem = schema.problems(with: value, at: path).first else { continue }
                warn(
                    .unknownValue,
                    "'\(path)' of '\(type)' is never \(value.description): \(problem.message.withAdvice("correct it"))",
                    at: keyPath)
            }
        }
    }
}

extension Template {
    /// The paths that the template's placeholders have within one scope, without the name of the scope.
    package func paths(in scope: Scope) -> [String] {
        placeholders.compactMap { $0.path.removing(prefix: "\(scope.rawValue).").map(String.init) }
    }
}

extension Flow.Action {
    /// The strings of the action that may be templates.
    package var templateTexts: [String] { json.texts.filter { $0.contains(scalars: "${") } }
}

extension JSONValue {
    /// All strings in the value, in a stable order.
    package var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .array(let elements): elements.flatMap(\.texts)
        case .object(let members): members.sorted { $0.key < $1.key }.flatMap(\.value.texts)
        default: []
        }
    }
}

extension String {
    /// The problem with a remedy, unless it already has one.
    func withAdvice(_ remedy: String) -> String { contains(scalars: "; ") ? self : "\(self); \(remedy)" }
}
