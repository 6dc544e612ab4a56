internal import Navigation
internal import Support

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
        /// The schemas of the data of the messages, one of which the rule answers. Nil for one that is not known.
        var data: [JSONSchema?] = []
        /// The schemas of the data of the answers to the guard, one of which comes. Nil for one that is not known.
        var answer: [JSONSchema?] = []
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
        guard !flow.letsViewsPassArguments else { return }
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
                        own.answer = answer.map { catalogue.data[$0] }
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
                    former.map { former in former.flatMap { former in known.flatMap { former.joined(with: $0) } } }
                        ?? known,
                    forKey: name)
            }
        }
        return types.mapValues { $0.compactMapValues(\.self) }
    }

    func sources(of rule: Flow.Transition) -> Sources {
        let required = rule.screens(in: .sender)
        let sending = rule.on.reduce(into: Set()) { $0.formUnion(screenSenders[$1] ?? []) }
        // Screens that may send any command have arguments of unknown types.
        let isKnown =
            !required.isEmpty
            || !rule.on.isEmpty && openScreens.isEmpty && sending.count <= Self.senderLimit
                && rule.on.allSatisfy { screenSenders[$0] != nil }
        let senders = !isKnown ? [] : required.isEmpty ? sending.sorted() : required
        // A rule that waits has no sender, so its arguments are those of the screen in front.
        let isFrontKnown = !senders.isEmpty || rule.after != nil
        return Sources(
            data: rule.on.map { catalogue.data[$0] },
            senders: senders, front: isFrontKnown ? senders + rule.screens(in: .top) : [])
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
        case .data: return Self.joined(sources.data.map { $0?.found(at: String(rest)) })
        case .answer: return Self.joined(sources.answer.map { $0?.found(at: String(rest)) })
        case .sender: return type(ofArgument: rest, of: sources.senders)
        case .arguments: return type(ofArgument: rest, of: sources.front)
        case .screens: return rest.cut(at: ".").flatMap { type(ofArgument: $0.after, of: [String($0.before)]) }
        case nil: return nil
        }
    }

    /// The type of a value that has one of these types. Nil if one of them is not known, or if they differ.
    private static func joined(_ types: [JSONSchema?]) -> JSONSchema? {
        types.dropFirst().reduce(types.first ?? nil) { joined, type in
            joined.flatMap { joined in type.flatMap { joined.joined(with: $0) } }
        }
    }

    /// The type of an argument that has the same type in all of these screens.
    private func type(ofArgument path: Substring, of screens: [String]) -> JSONSchema? {
        let (name, rest) =
            path.cut(at: ".").map { (String($0.before), Optional(String($0.after))) } ?? (String(path), nil)
        let type = Self.joined(screens.map { arguments[$0]?[name] })
        return rest.map { type?.found(at: $0) } ?? type
    }
}

extension Flow {
    /// True if a view can request a screen with any arguments that the screen does not declare.
    var letsViewsPassArguments: Bool {
        !requests(anyOf: [.setRoot, .push, .goTo, .replacePath, .present, .show, .update]).isEmpty
    }
}

extension JSONSchema {
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
