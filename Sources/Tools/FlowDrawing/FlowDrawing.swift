internal import FlowReview
internal import Navigation
internal import Support

/// The boxes and arrows of the drawing of a flow.
struct FlowDrawing {
    /// A screen, or another place at which an arrow starts or ends.
    struct Box: Hashable {
        enum Kind: Hashable {
            case start
            case screen
            case presented
            /// A screen that no rules reach from the start.
            case unreached
            /// A place that is not a certain screen: any screen, or the screen beneath the present screen.
            case somewhere
        }

        let id: String
        /// The lines of the box's label.
        let lines: [String]
        let kind: Kind
        /// The child flow that contains the box. Nil if the main flow or several flows contain it.
        let flow: String?
    }

    struct Arrow: Hashable {
        let from: String
        let to: String
        let lines: [String]
        let kind: FlowGraph.MessageKind
    }

    let name: String
    let boxes: [Box]
    /// The child flows that have boxes of their own.
    let flows: [String]
    let arrows: [Arrow]

    init(of flow: Flow) {
        let graph = flow.graph
        let edges = graph.edges.filter { !Self.isMinor($0, in: graph) }
        let owners = Self.owners(in: graph)
        var boxes = graph.nodes.enumerated().map { index, node in
            Box(
                id: "s\(index)", lines: Self.lines(of: node), kind: Self.kind(of: node),
                flow: node.isStart ? nil : owners[node.screen])
        }
        var ids = Dictionary(uniqueKeysWithValues: zip(graph.nodes.map { Place.screen($0.screen) }, boxes.map(\.id)))
        for place in edges.flatMap({ [Place(from: $0), Place(to: $0)] }) where ids[place] == nil {
            let box = place.box(id: "p\(boxes.count)")
            ids[place] = box.id
            boxes.append(box)
        }
        self.boxes = boxes
        flows = Set(boxes.compactMap(\.flow)).sorted()
        name = flow.name
        arrows = edges.reduce(into: []) { arrows, edge in
            guard let from = ids[Place(from: edge)], let to = ids[Place(to: edge)] else { return }
            let arrow = Arrow(from: from, to: to, lines: flow.lines(of: edge), kind: edge.kind)
            if !arrows.contains(arrow) { arrows.append(arrow) }
        }
    }

    private enum Place: Hashable {
        case screen(String)
        case anywhere(flow: String?)
        case beneath

        init(from edge: FlowGraph.Edge) {
            self = edge.from.map { .screen($0) } ?? .anywhere(flow: edge.rule.flow)
        }

        init(to edge: FlowGraph.Edge) {
            self = edge.to.map { .screen($0) } ?? .beneath
        }

        func box(id: String) -> Box {
            switch self {
            case .anywhere(let flow): Box(id: id, lines: ["anywhere"], kind: .somewhere, flow: flow)
            case .beneath: Box(id: id, lines: ["the screen beneath"], kind: .somewhere, flow: nil)
            case .screen(let name): Box(id: id, lines: [name], kind: .screen, flow: nil)
            }
        }
    }

    /// True for an edge that is not drawn: a deep link that stays on its screen; or a removal of screens that ends no
    /// child flow, by a rule that also leads to a screen.
    private static func isMinor(_ edge: FlowGraph.Edge, in graph: FlowGraph) -> Bool {
        if edge.rule.isLink, edge.from == edge.to { return true }
        return edge.to == nil && ![.finish, .abandon].contains(edge.action)
            && graph.edges.contains { $0.rule == edge.rule && $0.to != nil }
    }

    /// The names of child flows, by screen. Contains a screen only if one child flow shows the screen and no other flow
    /// does.
    private static func owners(in graph: FlowGraph) -> [String: String] {
        var owners: [String: Set<String?>] = [:]
        for edge in graph.edges where edge.placement != .before {
            if let screen = edge.to { owners[screen, default: []].insert(edge.begins ?? edge.rule.flow) }
        }
        return owners.compactMapValues { $0.count == 1 ? $0.first ?? nil : nil }
    }

    private static func kind(of node: FlowGraph.Node) -> Box.Kind {
        if node.isStart { return .start }
        if !node.isReached { return .unreached }
        return node.styles.isEmpty ? .screen : .presented
    }

    private static func lines(of node: FlowGraph.Node) -> [String] {
        [node.screen] + (node.title.map { [$0] } ?? [])
            + (node.styles.isEmpty ? [] : ["(\(node.styles.joined(separator: ", ")))"])
    }
}

extension FlowGraph.Node {
    /// The styles in which the screen is presented; empty if the screen is never presented.
    fileprivate var styles: [String] {
        PresentationStyle.allCases.filter { placements.contains(.presented($0)) }.map(\.rawValue)
    }
}

extension Flow {
    /// The lines of an arrow's label: the message or deep link, the conditions, and the action.
    func lines(of edge: FlowGraph.Edge) -> [String] {
        if edge.rule.isLink, links.indices.contains(edge.rule.index) {
            let link = links[edge.rule.index]
            return [link.url] + Self.lines(of: link.when, link.unless, edge).map { "[\($0)]" } + [edge.text]
        }
        guard let rule = rule(of: edge) else { return [edge.message] }
        let fields = rule.fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.text)" }
        let origin = rule.origin == .own ? ["from \(platform) only"] : []
        let guards = (fields + Self.lines(of: rule.when, rule.unless, edge) + origin).map { "[\($0)]" }
        return [edge.message] + guards + (rule.guard.map { [$0.text(of: edge.rule.answer)] } ?? []) + [edge.text]
    }

    private static func lines(of when: [Condition], _ unless: [Condition], _ edge: FlowGraph.Edge) -> [String] {
        when.filter { !$0.isObvious(from: edge.from) }.map { "when \($0.text)" } + unless.map { "unless \($0.text)" }
    }

    private func rule(of edge: FlowGraph.Edge) -> Transition? {
        let rules = edge.rule.flow.map { flows[$0]?.transitions ?? [] } ?? transitions
        return rules.indices.contains(edge.rule.index) ? rules[edge.rule.index] : nil
    }
}

extension FlowGraph.Edge {
    fileprivate var text: String {
        let what = begins.map { "\(action.rawValue) \($0)" } ?? action.rawValue
        return switch placement {
        case .presented(let style): "\(what) as \(style.rawValue)"
        case .tab(let name): "\(what), tab \(name)"
        case .column(let name): "\(what) in \(name)"
        case .root, .path, .before: what
        }
    }
}

extension Flow.Condition {
    /// True if the label leaves the condition out, because it names the screen at which the arrow starts.
    fileprivate func isObvious(from screen: String?) -> Bool {
        screens.contains { $0.screen == screen && $0.arguments.isEmpty } && scope != .tab
    }

    fileprivate var text: String {
        let names = screens.map { screen in
            screen.screen + (screen.arguments.isEmpty ? "" : " \(JSONValue.object(screen.arguments))")
        }
        return "\(scope.rawValue): \(names.isEmpty ? "nothing" : names.joined(separator: " or "))"
    }
}

extension Flow.Match {
    fileprivate var text: String {
        let parts = [
            anyOf.map { $0.map(\.text).joined(separator: " or ") },
            noneOf.isEmpty ? nil : "not \(noneOf.map(\.text).joined(separator: " or "))",
            exists.map { $0 ? "is there" : "is not there" },
            atLeast.map { "at least \(JSONValue.number($0))" },
            atMost.map { "at most \(JSONValue.number($0))" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

extension JSONValue {
    fileprivate var text: String { stringValue ?? description }
}

extension Flow.Guard {
    fileprivate func text(of answer: FlowGraph.Answer?) -> String {
        switch answer {
        case .rejected: "after \(reject?.on ?? "nothing")\(Self.text(of: reject))"
        case .expired: "without an answer for \(deadline)"
        case .accepted, nil: "after \(accept.on)\(Self.text(of: accept))"
        }
    }

    private static func text(of answer: Answer?) -> String {
        let fields = (answer?.fields ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.text)" }
        return fields.isEmpty ? "" : " [\(fields.joined(separator: ", "))]"
    }
}
