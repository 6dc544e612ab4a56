package import FlowReview
package import Navigation
internal import Support

/// The boxes and arrows of the drawing of a flow.
package struct FlowDrawing: Hashable, Sendable {
    /// A screen, or another place at which an arrow starts or ends.
    package struct Box: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable {
            case start
            case screen
            case presented
            /// A screen that no rules reach from the start.
            case unreached
            /// A place that is not a certain screen: any screen, or the screen beneath the present screen.
            case somewhere
        }

        /// The name of the box in the languages of drawings. It contains no text of the flow.
        package let id: String
        package let kind: Kind
        /// The child flow that contains the box. Nil if the main flow or several flows contain it.
        package let flow: String?
        /// The name of the screen. Nil for a place that is not a certain screen.
        package let screen: String?
        /// The screen's title, which is nil if the flow sets none; or the words for a place that is not a certain
        /// screen.
        package let title: String?
        /// The styles in which the screen is presented, in the order of `PresentationStyle.allCases`.
        package var styles: [PresentationStyle] = []
        /// The types of the commands that the screen sends, sorted.
        package var sends: [String] = []

        /// The lines of the box's label.
        var lines: [String] {
            let names = [screen, title].compactMap(\.self)
            return names + (styles.isEmpty ? [] : ["(\(styles.map(\.rawValue).joined(separator: ", ")))"])
        }
    }

    /// The ways in which messages of one type lead from one box to another. Rules that differ in nothing that is drawn
    /// share an arrow.
    package struct Arrow: Hashable, Sendable {
        /// The index of the box at which the arrow starts.
        package let from: Int
        /// The index of the box to which the arrow points.
        package let to: Int
        /// The whole label: the message or deep link, the conditions, and the action.
        package let lines: [String]
        package let kind: FlowGraph.MessageKind
        /// The type of the message.
        package let message: String
        /// The short label: at most two lines; see ``Flow/words(of:)``.
        package let words: [String]
        /// True for the arrow of deep links.
        package let isLink: Bool
        /// The key paths of the rules, such as `transitions[3]`.
        package fileprivate(set) var rules: [String]
        /// The key paths of the lists of actions that lead to the box: those of rules and links, and those of answers to
        /// guards, such as `transitions[3].guard.rejected`.
        package fileprivate(set) var places: [String]
    }

    /// The size up to which a flow is drawn.
    package struct Limits: Hashable, Sendable {
        package var boxes: Int
        package var arrows: Int
        /// The length of all labels in UTF-8.
        package var bytes: Int

        /// The limits of a flow from the bus, which is drawn on a page.
        package static let page = Limits(boxes: 500, arrows: 3_000, bytes: 4 << 20)
        /// The limits of a flow from a file, which is drawn by a command.
        package static let file = Limits(boxes: 10_000, arrows: 100_000, bytes: 256 << 20)
    }

    /// The reason why a flow is not drawn.
    package struct TooLarge: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    package let name: String
    package let boxes: [Box]
    /// The child flows that have boxes of their own.
    package let flows: [String]
    package let arrows: [Arrow]

    /// Draws a flow.
    /// - Throws: ``TooLarge`` as soon as the drawing exceeds a limit. So a flow from outside costs little time and
    ///   memory.
    package init(of flow: Flow, within limits: Limits = .page) throws(TooLarge) {
        try limits.check(boxes: flow.screens.count)
        // Some edges are not drawn, and some share an arrow.
        let edgeLimit = 4 * limits.arrows
        guard let graph = FlowGraph(of: flow, edgeLimit: edgeLimit) else { throw limits.tooManyArrows(edgeLimit) }
        let leading = Set(graph.edges.filter { $0.to != nil }.map(\.rule))
        let edges = graph.edges.filter { !Self.isMinor($0, leading: leading) }
        let owners = Self.owners(in: graph)
        var boxes = graph.nodes.enumerated().map { index, node in
            Box(
                id: "s\(index)", kind: Self.kind(of: node), flow: node.isStart ? nil : owners[node.screen],
                screen: node.screen, title: node.title, styles: node.styles,
                sends: flow.screens[node.screen]?.sends.sorted() ?? [])
        }
        var indices = Dictionary(uniqueKeysWithValues: graph.nodes.enumerated().map { (Place.screen($1.screen), $0) })
        for place in edges.flatMap({ [Place(from: $0), Place(to: $0)] }) where indices[place] == nil {
            indices[place] = boxes.count
            boxes.append(place.box(id: "p\(boxes.count)"))
        }
        try limits.check(boxes: boxes.count)
        self.boxes = boxes
        flows = Set(boxes.compactMap(\.flow)).sorted()
        name = flow.name
        arrows = try Self.arrows(of: edges, in: flow, between: indices, within: limits)
    }

    private static func arrows(
        of edges: [FlowGraph.Edge], in flow: Flow, between indices: [Place: Int], within limits: Limits
    ) throws(TooLarge) -> [Arrow] {
        var arrows: [Arrow] = []
        var known: [Arrow: Int] = [:]
        var bytes = 0
        for edge in edges {
            guard let from = indices[Place(from: edge)], let to = indices[Place(to: edge)] else { continue }
            let lines = flow.lines(of: edge)
            bytes += lines.reduce(0) { $0 + $1.utf8.count }
            if bytes > limits.bytes { throw limits.tooMuchText }
            var arrow = Arrow(
                from: from, to: to, lines: lines, kind: edge.kind, message: edge.message, words: flow.words(of: edge),
                isLink: edge.rule.isLink, rules: [], places: [])
            let (rule, place) = (edge.rule.keyPath, edge.rule.actionsKeyPath)
            if let index = known[arrow] {
                // The edges of a rule follow each other.
                if arrows[index].rules.last != rule { arrows[index].rules.append(rule) }
                if !arrows[index].places.contains(place) { arrows[index].places.append(place) }
                continue
            }
            if arrows.count == limits.arrows { throw limits.tooManyArrows(limits.arrows) }
            known[arrow] = arrows.count
            (arrow.rules, arrow.places) = ([rule], [place])
            arrows.append(arrow)
        }
        return arrows
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
            case .anywhere(let flow): Box(id: id, kind: .somewhere, flow: flow, screen: nil, title: "anywhere")
            case .beneath: Box(id: id, kind: .somewhere, flow: nil, screen: nil, title: Box.beneath)
            case .screen(let name): Box(id: id, kind: .screen, flow: nil, screen: name, title: nil)
            }
        }
    }

    /// True for an edge that is not drawn: a deep link that stays on its screen; or a removal of screens that ends no
    /// child flow, by a rule that also leads to a screen.
    private static func isMinor(_ edge: FlowGraph.Edge, leading: Set<FlowGraph.Rule>) -> Bool {
        if edge.rule.isLink, edge.from == edge.to { return true }
        return edge.to == nil && ![.finish, .abandon].contains(edge.action) && leading.contains(edge.rule)
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
}

extension FlowDrawing.Box {
    fileprivate static let beneath = "the screen beneath"

    /// True for the place beneath the removed screens, at which arrows only end.
    var isBeneath: Bool { kind == .somewhere && title == Self.beneath }
}

extension FlowDrawing.Limits {
    fileprivate func check(boxes count: Int) throws(FlowDrawing.TooLarge) {
        guard count > boxes else { return }
        throw FlowDrawing.TooLarge(description: "the flow has \(count) screens; at most \(boxes) are drawn")
    }

    fileprivate func tooManyArrows(_ limit: Int) -> FlowDrawing.TooLarge {
        FlowDrawing.TooLarge(description: "the flow has more than \(limit) arrows; at most \(arrows) are drawn")
    }

    fileprivate var tooMuchText: FlowDrawing.TooLarge {
        FlowDrawing.TooLarge(description: "the labels of the flow's arrows are longer than \(bytes) bytes")
    }
}

extension FlowGraph.Node {
    /// The styles in which the screen is presented; empty if the screen is never presented.
    fileprivate var styles: [PresentationStyle] {
        PresentationStyle.allCases.filter { placements.contains(.presented($0)) }
    }
}
