internal import Foundation
internal import Navigation
internal import Support

extension FlowReviewer {
    /// Compares the commands that an action sends with their contracts, and the arguments that it passes with the
    /// declarations of the screens. The checks of the flow have reported constants among the arguments already.
    mutating func review(
        _ action: Flow.Action, _ sources: ArgumentTypes.Sources, _ types: ArgumentTypes,
        _ catalogue: MessageCatalogue, at keyPath: String
    ) {
        switch action {
        case .send(let type, let data): review(type, data, sources, types, catalogue, at: keyPath)
        case .present(_, as: _, options: let options), .presentFlow(_, arguments: _, as: _, options: let options):
            for (index, button) in (options.buttons ?? []).enumerated() {
                let keyPath = "\(keyPath).buttons[\(index)]"
                if let type = button.sends {
                    review(type, .object(button.data ?? [:]), sources, types, catalogue, at: "\(keyPath).sends")
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
    mutating func review(
        _ type: String, _ data: JSONValue, _ sources: ArgumentTypes.Sources, _ types: ArgumentTypes,
        _ catalogue: MessageCatalogue, at keyPath: String
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
        for problem in schema.problems(with: data, type: { types.type(of: $0, in: sources) }) {
            let path = "'\(problem.path)' of '\(type)'"
            switch problem.kind {
            case .unknown:
                let field = problem.path.removing(prefix: "data.").map(String.init) ?? problem.path
                let advice =
                    known.isEmpty || field.contains(scalars: ".")
                    ? problem.message : Spelling.advice(for: field, among: known.keys)
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

/// The types of the arguments of screens, and of the values for which templates are placeholders.
struct ArgumentTypes {
    /// The schemas of the arguments, by screen and name: as declared or, if a screen does not declare its arguments, as
    /// rules and links pass them, where they all pass the same type.
    private var arguments: [String: [String: JSONSchema]]
    private let screenSenders: [String: Set<String>]
    private let openScreens: Set<String>
    private let catalogue: MessageCatalogue

    /// The messages, screens and URL from which the templates of a rule or a link take their values.
    struct Sources {
        /// The schema of the message's data. Nil if it is not known.
        var data: JSONSchema?
        /// The schema of the data of the answer to the guard. Nil if it is not known.
        var answer: JSONSchema?
        /// The screens that can send the message. Empty if they are not known.
        var senders: [String] = []
        /// The screens to which `${arguments…}` can refer. Empty if they are not known.
        var front: [String] = []
        var link: Flow.Link?
    }

    /// A screen to which a rule or a link passes arguments, and the sources of these arguments.
    private typealias Opening = (destination: Flow.Destination, sources: Sources)

    /// The maximum number of screens through which an argument is followed.
    private static let depth = 8
    /// The maximum number of senders of a message whose arguments are compared.
    private static let senderLimit = 64

    init(
        of flow: Flow, senders: [String: Set<String>], openScreens: Set<String>, _ catalogue: MessageCatalogue
    ) {
        arguments = flow.screens.compactMapValues { $0.arguments?.mapValues(\.schema) }
        screenSenders = senders
        self.openScreens = openScreens
        self.catalogue = catalogue
        // A view can request a screen with any arguments.
        guard flow.requests(anyOf: [.setRoot, .push, .replacePath, .present, .show]).isEmpty else { return }
        let openings = openings(in: flow)
        let declared = arguments
        for _ in 0..<Self.depth {
            let found = declared.merging(passed(by: openings)) { declared, _ in declared }
            if found == arguments { return }
            arguments = found
        }
    }

    private func openings(in flow: Flow) -> [Opening] {
        var openings: [Opening] = []
        for (_, rule) in flow.placedRules {
            var sources: Sources?
            for (_, actions, answer) in rule.answeredActions {
                for action in actions {
                    for destination in action.withButtons.flatMap({ flow.destinations(of: $0) })
                    where !destination.arguments.isEmpty && flow.screens[destination.screen]?.arguments == nil {
                        var own = sources ?? self.sources(of: rule)
                        sources = own
                        own.answer = answer.flatMap { catalogue.data[$0] }
                        openings.append((destination, own))
                    }
                }
            }
        }
        for (rule, link) in flow.placedLinks {
            let sources = sources(of: flow.links[rule.index])
            openings += link.actions.flatMap { flow.destinations(of: $0) }.map { ($0, sources) }
        }
        return openings
    }

    /// The types of the arguments on which all openings of a screen agree.
    private func passed(by openings: [Opening]) -> [String: [String: JSONSchema]] {
        var types: [String: [String: JSONSchema?]] = [:]
        for (destination, sources) in openings {
            for (name, value) in destination.arguments {
                let type =
                    value.stringValue.map { self.type(of: $0, in: sources) ?? .string } ?? JSONSchema(typeOf: value)
                let known = type.isCertain ? type : nil
                let former = types[destination.screen]?[name]
                types[destination.screen, default: [:]].updateValue(
                    former.map { former in former.flatMap { former in known.flatMap { former.joined(with: $0) } } } ?? known,
                    forKey: name)
            }
        }
        return types.mapValues { $0.compactMapValues(\.self) }
    }

    func sources(of rule: Flow.Transition) -> Sources {
        let required = rule.screens(in: .sender)
        let sending = screenSenders[rule.on] ?? []
        // Screens that may send any command have arguments of unknown types.
        let isKnown = required.isEmpty ? openScreens.isEmpty && sending.count <= Self.senderLimit : true
        let senders = !isKnown ? [] : required.isEmpty ? sending.sorted() : required
        return Sources(
            data: Flow.Ending(rawValue: rule.on) == nil ? catalogue.data[rule.on] : nil,
            senders: senders, front: senders.isEmpty ? [] : senders + rule.screens(in: .top))
    }

    func sources(of link: Flow.Link) -> Sources { Sources(link: link) }

    /// The type of the values for which a string with placeholders stands; `any` if it is not known. Nil for a string
    /// without placeholders.
    func type(of text: String, in sources: Sources) -> JSONSchema? {
        guard text.contains(scalars: "${"), let segments = try? Template.segments(of: text) else { return nil }
        guard segments.count == 1, case .placeholder(let placeholder) = segments[0] else {
            return segments.contains { if case .placeholder = $0 { true } else { false } } ? .string : nil
        }
        let type = type(at: placeholder.path, in: sources)
        guard let standby = placeholder.standbyValue.map({ JSONSchema.enumeration([$0]) }) else { return type ?? .any }
        return type.map { $0.joined(with: standby) ?? standby } ?? standby
    }

    /// The type of the value at the path of a placeholder. Nil if it is not known.
    private func type(at path: String, in sources: Sources) -> JSONSchema? {
        guard let (scope, rest) = path.cut(at: ".") else { return nil }
        if let link = sources.link { return scope == "url" ? link.typeOfURLValue(String(rest)) : nil }
        switch Template.Scope(rawValue: String(scope)) {
        case .data: return sources.data?.found(at: String(rest))
        case .answer: return sources.answer?.found(at: String(rest))
        case .sender: return type(ofArgument: rest, of: sources.senders)
        case .arguments: return type(ofArgument: rest, of: sources.front)
        case .screens: return rest.cut(at: ".").flatMap { type(ofArgument: $0.after, of: [String($0.before)]) }
        case nil: return nil
        }
    }

    /// The type of an argument that has the same type in all of these screens.
    private func type(ofArgument path: Substring, of screens: [String]) -> JSONSchema? {
        let (name, rest) = path.cut(at: ".").map { (String($0.before), Optional(String($0.after))) } ?? (String(path), nil)
        var type: JSONSchema?
        for screen in screens {
            guard let argument = arguments[screen]?[name] else { return nil }
            guard let joined = type.map({ $0.joined(with: argument) }) ?? argument else { return nil }
            type = joined
        }
        return rest.map { type?.found(at: $0) } ?? type
    }
}

extension JSONSchema {
    /// The reason why an argument never has a value. Nil if it may have the value, as such or as its JSON text.
    fileprivate func problem(withArgument value: JSONValue) -> String? {
        let problems = problems(with: value, at: "", type: { $0.contains(scalars: "${") ? .any : nil })
        guard let problem = problems.first else { return nil }
        let written = value.stringValue.flatMap { try? JSONValue(parsing: Data($0.utf8)) }
        if let written, self.problems(with: written).isEmpty { return nil }
        if self.problems(with: .string(value.description)).isEmpty, value.stringValue == nil { return nil }
        return problem.message
    }

    /// False if values of other types are possible: a single value is the default of a template.
    fileprivate var isCertain: Bool {
        if case .enumeration(let values) = self { return values.count > 1 }
        return kind != .any && kind != .map(.any)
    }

    /// The schema of the field at a dotted path. Nil if it is not known.
    fileprivate func found(at path: String) -> JSONSchema? {
        if case .found(let schema) = field(at: path) { schema } else { nil }
    }
}

extension Flow.Transition {
    /// The rule's lists of actions with the places of the lists in the rule, and the types of the answers to which their
    /// templates may refer.
    var answeredActions: [(keyPath: String, actions: [Flow.Action], answer: String?)] {
        guard let condition = `guard` else { return [("do", actions, nil)] }
        let question = condition.ask.map { [Flow.Action.send(type: $0.type, data: $0.data)] } ?? []
        return [
            ("do", actions, condition.accept.on), ("guard.ask", question, nil),
            ("guard.rejected", condition.rejected, condition.reject?.on), ("guard.expired", condition.expired, nil),
        ]
    }
}

extension Flow {
    /// The screens to which an action passes arguments.
    func destinations(of action: Action) -> [Destination] {
        switch action {
        case .setRoot(let root, container: let layout): [root] + (layout?.tabs ?? []).map(\.destination)
        case .push(let destination, on: _), .present(let destination, as: _, options: _),
            .show(let destination, column: _), .update(let destination):
            [destination]
        case .replacePath(let path): path
        case .pushFlow(let name, arguments: let arguments, on: _),
            .presentFlow(let name, arguments: let arguments, as: _, options: _):
            flows[name].map { [.screen($0.start, arguments)] } ?? []
        case .pop, .popToRoot, .dismiss, .dismissAll, .selectTab, .openURL, .send, .finish, .abandon: []
        }
    }
}
