internal import Foundation
package import Navigation
internal import Support

extension FlowReviewer {
    /// Compares the commands that an action sends with their contracts, and the arguments that it passes with the
    /// declarations of the screens. The checks of the flow have reported constants among the arguments already.
    mutating func review(
        _ action: Flow.Action, _ sources: ArgumentTypes.Sources, _ types: ArgumentTypes,
        _ catalogue: MessageCatalogue, at keyPath: String
    ) {
        switch action {
        case .send(let type, let data):
            review(type, data, catalogue, at: keyPath) { types.type(of: $0, in: sources) }
        case .present(_, as: _, options: let options), .presentFlow(_, arguments: _, as: _, options: let options):
            for (index, button) in (options.buttons ?? []).enumerated() {
                let keyPath = "\(keyPath).buttons[\(index)]"
                if let type = button.sends {
                    review(type, .object(button.data ?? [:]), catalogue, at: "\(keyPath).sends") {
                        types.type(of: $0, in: sources)
                    }
                }
                for (index, action) in button.actions.enumerated() {
                    review(action, sources, types, catalogue, at: "\(keyPath).do[\(index)]")
                }
            }
        default: break
        }
        for destination in flow.destinations(of: action) {
            guard let declared = flow.screens[destination.screen]?.arguments else { continue }
            let problems = JSONSchema.object(declared).problems(
                with: .object(destination.arguments), at: "arguments", type: { types.type(of: $0, in: sources) })
            for problem in problems where problem.kind == .type {
                warn(
                    .wrongType, "'\(problem.path)' of screen '\(destination.screen)': \(problem.message); correct it",
                    at: "\(keyPath).\(problem.path)")
            }
        }
    }

    /// Finds conditions on values that a declared argument never has, and templates in conditions that are literal text.
    mutating func reviewArgumentConditions(of rule: Flow.Transition, at keyPath: String) {
        for (key, conditions) in [("when", rule.when), ("unless", rule.unless)] {
            for condition in conditions {
                for (index, screen) in condition.screens.enumerated() where !screen.arguments.isEmpty {
                    let keyPath = "\(keyPath).\(key).\(condition.scope.rawValue)[\(index)].arguments"
                    for (name, match) in screen.arguments.sorted(by: { $0.key < $1.key }) {
                        reviewEscapes(in: match.values.flatMap(\.texts), at: "\(keyPath).\(name)")
                        guard let declared = flow.screens[screen.screen]?.arguments?[name]?.schema else { continue }
                        for value in match.values where !value.isNull {
                            guard let problem = declared.problem(withArgument: value) else { continue }
                            warn(
                                .unknownValue,
                                "'\(name)' of screen '\(screen.screen)' is never \(value.description): "
                                    + problem.withAdvice("correct it"),
                                at: "\(keyPath).\(name)")
                        }
                    }
                }
            }
        }
    }

    /// Compares a command that the flow sends with its contract.
    ///
    /// - Parameter valueType: The type of the values for which a string with placeholders stands, as
    ///   ``ArgumentTypes/type(of:in:)`` returns it.
    mutating func review(
        _ type: String, _ data: JSONValue, _ catalogue: MessageCatalogue, at keyPath: String,
        valueType: (String) -> JSONSchema?
    ) {
        review(type, catalogue, at: keyPath)
        guard let schema = catalogue.data[type], let known = schema.members else { return }
        for (field, value) in (data.objectValue ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard known[field]?.isRequired == true,
                let placeholder = value.stringValue.flatMap({ Template.optional(in: $0) })
            else { continue }
            warn(
                .missingField,
                "'data.\(field)' of '\(type)' is required, and '${\(placeholder)?}' may leave it out; write a default, such "
                    + "as '${\(placeholder):-none}'",
                at: "\(keyPath).data")
        }
        for problem in schema.problems(with: data, type: valueType) {
            let path = "'\(problem.path)' of '\(type)'"
            switch problem.kind {
            case .unknown:
                let field = problem.path.removing(prefix: "data.").map(String.init) ?? problem.path
                let advice = problem.message.cut(at: "; ").map { String($0.after) } ?? problem.message
                warn(.unknownField, "'\(type)' has no field '\(field)'; \(advice)", at: keyPath)
            case .missing:
                warn(.missingField, "\(path): \(problem.message); add it", at: "\(keyPath).data")
            case .value, .type:
                warn(
                    .wrongType, "\(path): \(problem.message.withAdvice("correct it"))",
                    at: "\(keyPath).\(problem.path)")
            }
        }
    }
}

extension JSONSchema {
    /// The reason why an argument never has a value. Nil if it may have the value, as such or as its JSON text.
    fileprivate func problem(withArgument value: JSONValue) -> String? {
        let problems = problems(with: value, at: "", type: { $0.contains(scalars: "${") ? .any : nil })
        guard let problem = problems.first else { return nil }
        let written = value.stringValue.flatMap { try? JSONValue(parsing: Data($0.utf8)) }
        if let written, self.problems(with: written).isEmpty { return nil }
        let isScalar = value.arrayValue == nil && value.objectValue == nil
        if isScalar, self.problems(with: .string(value.description)).isEmpty { return nil }
        return problem.message
    }
}

extension Flow.Transition {
    /// The rule's lists of actions with the places of the lists in the rule, and the types of the answers to which their
    /// templates may refer.
    package var answeredActions: [(keyPath: String, actions: [Flow.Action], answer: [String])] {
        guard let condition = `guard` else { return [("do", actions, [])] }
        let question = condition.ask.map { [Flow.Action.send(type: $0.type, data: $0.data)] } ?? []
        return [
            ("do", actions, condition.accept.on), (Flow.Guard.Part.ask.rawValue, question, []),
            (Flow.Guard.Part.rejected.rawValue, condition.rejected, condition.reject?.on ?? []),
            (Flow.Guard.Part.expired.rawValue, condition.expired, []),
        ]
    }
}

extension Flow {
    /// The screens to which an action passes arguments.
    func destinations(of action: Action) -> [Destination] {
        switch action {
        case .setRoot(let root, container: let layout): [root] + (layout?.tabs ?? []).map(\.destination)
        case .push(let destination, on: _), .present(let destination, as: _, options: _),
            .show(let destination, column: _), .goTo(let destination), .update(let destination):
            [destination]
        case .replacePath(let path): path
        case .pushFlow(let name, arguments: let arguments, on: _),
            .presentFlow(let name, arguments: let arguments, as: _, options: _):
            flows[name].map { [.screen($0.start, arguments)] } ?? []
        case .ifPossible(let action): destinations(of: action)
        case .pop, .back, .popToRoot, .dismiss, .dismissAll, .selectTab, .openURL, .send, .finish, .abandon: []
        }
    }
}
