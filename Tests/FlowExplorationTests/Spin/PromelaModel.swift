import FlowExploration
import Navigation

/// A flow in Promela, the language of spin.
///
/// The model has one process, which in each state chooses one of the things that can happen. Each of these is one
/// `d_step`, so each stored state is a state between two messages. The process prints the states, the steps between them,
/// the rules that apply, and the properties that hold.
struct PromelaModel {
    /// A part of the language of flows that the model does not express.
    struct Unsupported: Error, CustomStringConvertible {
        let description: String
    }

    /// The kind of a presentation: all but its screen and its path.
    struct Kind: Hashable {
        let style: PresentationStyle
        let options: PresentationOptions
    }

    let flow: Flow
    /// The screens, which have numbers from 1.
    let screens: [String]
    /// The kinds of presentations, which have numbers from 1. The root's kind is 0.
    let kinds: [Kind]
    /// The model.
    private(set) var text = ""

    /// - Throws: ``Unsupported``
    init(_ flow: Flow) throws {
        self.flow = flow
        screens = flow.screens.keys.sorted()
        kinds = flow.withAllActions.compactMap(\.kind).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        guard flow.links.isEmpty, flow.flows.isEmpty, flow.requests.isEmpty else {
            throw Unsupported(description: "links, child flows and requests")
        }
        for (name, screen) in flow.screens where screen.gate || screen.arguments?.isEmpty == false {
            throw Unsupported(description: "the screen '\(name)' with a gate or arguments")
        }
        text = """
            /* \(screens.enumerated().map { "\($0 + 1): \($1)" }.joined(separator: ", ")) */
            \(bounds)
            \(try macros())
            \(PromelaLanguage.text)
            \(try handlers().joined(separator: "\n"))
            active proctype flow() {
                d_step { layers = 1; base[0] = \(try number(flow.start)) };
                do
            \(try occurrences().joined(separator: "\n"))
                :: d_step { true ->
                    look();
                    sentBy(0);
                    c_code {
                        writeState(current, now.layers, now.base, now.kind, now.length, now.path);
                        printf("state %s\\n", current);
                    };
            \(try flow.properties.enumerated().map(reports).joined(separator: "\n"))
                }
                od
            }

            """
    }

    func number(_ screen: String) throws -> Int {
        guard let index = screens.firstIndex(of: screen) else { throw Unsupported(description: "'\(screen)'") }
        return index + 1
    }

    func number(_ destination: Flow.Destination) throws -> Int {
        guard destination.arguments.isEmpty else { throw Unsupported(description: "arguments") }
        return try number(destination.screen)
    }

    func number(_ kind: Kind) throws -> Int {
        guard let index = kinds.firstIndex(of: kind) else { throw Unsupported(description: "\(kind)") }
        return index + 1
    }
}

// The macros of a flow.
extension PromelaModel {
    /// The maximum number of layers in a state that the exploration follows: of the root, and of presentations.
    var layerCount: Int {
        1 + Set(flow.withAllActions.flatMap(\.presentedScreens)).count * FlowExplorer.repetitionLimit
    }

    /// The maximum length of a path in a state that the exploration follows.
    var capacity: Int { Set(flow.withAllActions.flatMap(\.pushedScreens)).count * FlowExplorer.repetitionLimit }

    private var bounds: String {
        // A step may exceed the bounds of the exploration before it ends: with a button's actions, and with a rule.
        let growth = flow.transitions.map { rule in
            rule.actions.flatMap(\.withActionsOfButtons).reduce(0) { sum, action in
                sum + max(1, action.pushedScreens.count)
            }
        }
        let excess = 2 * (growth.max() ?? 0)
        return """
            #define SCREENS \(screens.count)
            #define RULES \(flow.transitions.count + 1)
            #define REPETITIONS \(FlowExplorer.repetitionLimit)
            #define LAYERS \(layerCount + excess)
            #define CAPACITY \(capacity + excess + 1)
            """
    }

    private func macros() throws -> String {
        func macro(_ name: String, _ numbers: [Int]) -> String {
            let cases = numbers.isEmpty ? "false" : numbers.map { "(number) == \($0)" }.joined(separator: " || ")
            return "#define \(name)(number) (\(cases))"
        }
        func kinds(_ name: String, where fits: (Kind) -> Bool) throws -> String {
            macro(name, try self.kinds.filter(fits).map(number))
        }
        func screens(_ name: String, where fits: (Flow.Screen) -> Bool) throws -> String {
            macro(name, try flow.screens.values.filter(fits).map { try number($0.name) }.sorted())
        }
        // Nothing that covers the whole screen, or asks, is swiped away, unless a rule answers just that.
        let areAllSwiped = flow.transitions.contains { $0.on.contains(Self.dismissed) }
        return try [
            kinds("QUESTION") { [.alert, .dialog].contains($0.style) },
            kinds("SHEET") { $0.style == .sheet && $0.options.interactiveDismissal != false },
            kinds("SWIPED") { $0.options.interactiveDismissal != false && ($0.style == .sheet || areAllSwiped) },
            screens("STAYS") { !$0.back },
            screens("ONCE", where: \.once),
        ].joined(separator: "\n")
    }
}

// The form in which the model prints states: the layers from the root up, each with its kind and its screens.
extension PromelaModel {
    func text(of state: NavigationState) throws -> String {
        let root = try layer(0, [state.root.instance] + state.path)
        let presentations = try state.presentations.map { presentation in
            let kind = Kind(style: presentation.style, options: presentation.options)
            return try layer(number(kind), presentation.instances)
        }
        return ([root] + presentations).joined(separator: "/")
    }

    private func layer(_ kind: Int, _ instances: [ScreenInstance]) throws -> String {
        "\(kind):\(try instances.map { "\(try number($0.screen))" }.joined(separator: ","))"
    }

    /// The screens in a printed state.
    func screens(inState text: String) -> [String] {
        let layers = text.utf8.split(separator: UInt8(ascii: "/"))
        let numbers = layers.flatMap { layer in
            layer.split(separator: UInt8(ascii: ":")).dropFirst().flatMap { $0.split(separator: UInt8(ascii: ",")) }
        }
        return numbers.compactMap { Int(Substring($0)) }.map { screens[$0 - 1] }
    }
}

extension Flow {
    /// All actions of the rules and of the buttons that they present.
    fileprivate var withAllActions: [Action] { transitions.flatMap(\.actions).flatMap(\.withActionsOfButtons) }
}

extension Flow.Action {
    fileprivate var withActionsOfButtons: [Flow.Action] {
        guard case .present(_, as: _, options: let options) = unconditional else { return [self] }
        return [self] + (options.buttons ?? []).flatMap(\.actions).flatMap(\.withActionsOfButtons)
    }

    /// The kind of the presentation that the action adds.
    fileprivate var kind: PromelaModel.Kind? {
        guard case .present(_, as: let style, options: let options) = unconditional else { return nil }
        return PromelaModel.Kind(style: style, options: options)
    }

    fileprivate var presentedScreens: [String] {
        if case .present(let destination, as: _, options: _) = unconditional { [destination.screen] } else { [] }
    }

    /// The screens that the action can add to a path.
    fileprivate var pushedScreens: [String] {
        switch unconditional {
        case .push(let destination, on: _), .goTo(let destination): [destination.screen]
        case .replacePath(let path): path.map(\.screen)
        default: []
        }
    }
}
