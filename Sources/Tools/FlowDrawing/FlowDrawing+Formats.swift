internal import FlowReview
internal import Navigation
internal import Support

extension FlowDrawing {
    /// The drawing in the language of Graphviz.
    package var dot: String {
        let members = Dictionary(grouping: boxes, by: \.flow)
        var lines = [
            "digraph \(Escape.dotString([name])) {",
            "  graph [rankdir=LR, fontname=\"Helvetica\", nodesep=0.4, ranksep=0.8]",
            "  node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=12]",
            "  edge [fontname=\"Helvetica\", fontsize=10]",
            "  start [shape=point, width=0.15]",
        ]
        lines += (members[nil] ?? []).map { "  \(Self.dot(of: $0))" }
        for (index, flow) in flows.enumerated() {
            lines += ["  subgraph cluster_\(index) {", "    label=\(Escape.dotString([flow]))", "    style=dashed"]
            lines += (members[flow] ?? []).map { "    \(Self.dot(of: $0))" } + ["  }"]
        }
        lines += boxes.filter { $0.kind == .start }.map { "  start -> \($0.id)" }
        lines += arrows.map { arrow in
            let color = arrow.kind.color
            let style = arrow.kind.dotStyle
            let label = Escape.dotString(arrow.lines)
            return "  \(boxes[arrow.from].id) -> \(boxes[arrow.to].id) "
                + "[label=\(label), style=\(style), color=\"\(color)\", fontcolor=\"\(color)\"]"
        }
        return (lines + ["}"]).map { "\($0)\n" }.joined()
    }

    private static func dot(of box: Box) -> String {
        let more =
            switch box.kind {
            case .start: ", penwidth=2"
            case .screen: ""
            case .presented: ", style=\"rounded,filled\", fillcolor=\"#fff3d6\""
            case .unreached: ", style=\"rounded,dotted\", fontcolor=gray"
            case .somewhere: ", shape=plaintext, fontcolor=gray"
            }
        return "\(box.id) [label=\(Escape.dotString(box.lines))\(more)]"
    }
}

extension FlowDrawing {
    /// The drawing in the language of Mermaid, which GitHub and GitLab display in Markdown.
    package var mermaid: String {
        let members = Dictionary(grouping: boxes, by: \.flow)
        var lines = ["flowchart LR"]
        lines += (members[nil] ?? []).map { "  \(Self.mermaid(of: $0))" }
        for (index, flow) in flows.enumerated() {
            lines.append("  subgraph f\(index)[\(Escape.mermaidString([flow]))]")
            lines += (members[flow] ?? []).map { "    \(Self.mermaid(of: $0))" } + ["  end"]
        }
        lines += arrows.map { arrow in
            "  \(boxes[arrow.from].id) \(arrow.kind.mermaidLine)|\(Escape.mermaidString(arrow.lines))| "
                + boxes[arrow.to].id
        }
        for (kind, name, style) in Box.Kind.styled {
            let ids = boxes.filter { $0.kind == kind }.map(\.id)
            if ids.isEmpty { continue }
            lines += ["  classDef \(name) \(style)", "  class \(ids.joined(separator: ",")) \(name)"]
        }
        for kind in FlowGraph.MessageKind.allCases {
            let indices = arrows.indices.filter { arrows[$0].kind == kind }.map(String.init)
            if indices.isEmpty { continue }
            lines.append("  linkStyle \(indices.joined(separator: ",")) stroke:\(kind.color),color:\(kind.color)")
        }
        return lines.map { "\($0)\n" }.joined()
    }

    private static func mermaid(of box: Box) -> String {
        let label = Escape.mermaidString(box.lines)
        return switch box.kind {
        case .start: "\(box.id)([\(label)])"
        case .screen, .unreached: "\(box.id)[\(label)]"
        case .presented: "\(box.id)(\(label))"
        case .somewhere: "\(box.id)((\(label)))"
        }
    }
}

extension FlowGraph.MessageKind {
    /// The colour of an arrow: blue for commands, green for events, red for errors, grey for documents, and violet for
    /// the ends of child flows.
    fileprivate var color: String {
        switch self {
        case .command: "#1f5fa8"
        case .event: "#2e7d32"
        case .error: "#b3261e"
        case .document: "#616161"
        case .flow: "#6a1b9a"
        }
    }

    fileprivate var dotStyle: String {
        switch self {
        case .command: "solid"
        case .event, .error: "dashed"
        case .document: "dotted"
        case .flow: "bold"
        }
    }

    fileprivate var mermaidLine: String {
        switch self {
        case .command: "-->"
        case .event, .error, .document: "-.->"
        case .flow: "==>"
        }
    }
}

extension FlowDrawing.Box.Kind {
    fileprivate static let styled: [(kind: FlowDrawing.Box.Kind, name: String, style: String)] = [
        (.start, "first", "stroke-width:3px"), (.presented, "presented", "fill:#fff3d6"),
        (.unreached, "unreached", "stroke-dasharray:2,color:gray"),
        (.somewhere, "somewhere", "fill:none,stroke:none,color:gray"),
    ]
}
