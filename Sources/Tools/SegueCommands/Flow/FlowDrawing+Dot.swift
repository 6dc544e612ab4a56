internal import FlowReview
internal import Navigation

extension FlowDrawing {
    /// The drawing in the language of Graphviz.
    var dot: String {
        var lines = [
            "digraph \(Self.quoted([name])) {",
            "  graph [rankdir=LR, fontname=\"Helvetica\", nodesep=0.4, ranksep=0.8]",
            "  node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=12]",
            "  edge [fontname=\"Helvetica\", fontsize=10]",
            "  start [shape=point, width=0.15]",
        ]
        lines += boxes.filter { $0.flow == nil }.map { "  \(Self.text(of: $0))" }
        for (index, flow) in flows.enumerated() {
            lines += ["  subgraph cluster_\(index) {", "    label=\(Self.quoted([flow]))", "    style=dashed"]
            lines += boxes.filter { $0.flow == flow }.map { "    \(Self.text(of: $0))" } + ["  }"]
        }
        lines += boxes.filter { $0.kind == .start }.map { "  start -> \($0.id)" }
        lines += arrows.map { arrow in
            let color = arrow.kind.color
            let style = arrow.kind.dotStyle
            let label = Self.quoted(arrow.lines)
            return "  \(arrow.from) -> \(arrow.to) "
                + "[label=\(label), style=\(style), color=\"\(color)\", fontcolor=\"\(color)\"]"
        }
        return (lines + ["}"]).map { "\($0)\n" }.joined()
    }

    private static func text(of box: Box) -> String {
        let more =
            switch box.kind {
            case .start: ", penwidth=2"
            case .screen: ""
            case .presented: ", style=\"rounded,filled\", fillcolor=\"#fff3d6\""
            case .unreached: ", style=\"rounded,dotted\", fontcolor=gray"
            case .somewhere: ", shape=plaintext, fontcolor=gray"
            }
        return "\(box.id) [label=\(quoted(box.lines))\(more)]"
    }

    /// Graphviz reads escapes and, as in HTML, entities.
    private static func quoted(_ lines: [String]) -> String {
        let escaped = lines.map { line in
            DrawnText.printable(line).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                .replacing("&", with: "&amp;")
        }
        return "\"\(escaped.joined(separator: "\\n"))\""
    }
}

extension FlowGraph.MessageKind {
    /// Commands are solid and blue, what has happened is dashed and green.
    var color: String {
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
}

/// Text that is drawn.
enum DrawnText {
    /// One line without what neither XML nor a terminal can show.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: " "
            case .unassigned, .surrogate: "\u{FFFD}"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
