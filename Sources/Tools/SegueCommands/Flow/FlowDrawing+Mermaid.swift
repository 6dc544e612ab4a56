internal import FlowReview
internal import Navigation

extension FlowDrawing {
    /// The drawing in the language of Mermaid, which code hosts draw in documents.
    var mermaid: String {
        var lines = ["flowchart LR"]
        lines += boxes.filter { $0.flow == nil }.map { "  \(Self.text(of: $0))" }
        for (index, flow) in flows.enumerated() {
            lines.append("  subgraph f\(index)[\(Self.quoted([flow]))]")
            lines += boxes.filter { $0.flow == flow }.map { "    \(Self.text(of: $0))" } + ["  end"]
        }
        lines += arrows.map { "  \($0.from) \($0.kind.mermaidLine)|\(Self.quoted($0.lines))| \($0.to)" }
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

    private static func text(of box: Box) -> String {
        let label = quoted(box.lines)
        return switch box.kind {
        case .start: "\(box.id)([\(label)])"
        case .screen, .unreached: "\(box.id)[\(label)]"
        case .presented: "\(box.id)(\(label))"
        case .somewhere: "\(box.id)((\(label)))"
        }
    }

    /// Mermaid has no escapes, but entities that begin with `#`.
    private static func quoted(_ lines: [String]) -> String {
        let escaped = lines.map { line in
            DrawnText.printable(line).map { letter in
                switch letter {
                case "\"": "#quot;"
                case "#": "#35;"
                case "&": "#amp;"
                case "<": "#lt;"
                case ">": "#gt;"
                case "`": "#96;"
                default: String(letter)
                }
            }
            .joined()
        }
        return "\"\(escaped.joined(separator: "<br>"))\""
    }
}

extension FlowDrawing.Box.Kind {
    fileprivate static let styled: [(kind: FlowDrawing.Box.Kind, name: String, style: String)] = [
        (.start, "first", "stroke-width:3px"), (.presented, "presented", "fill:#fff3d6"),
        (.unreached, "unreached", "stroke-dasharray:2,color:gray"),
        (.somewhere, "somewhere", "fill:none,stroke:none,color:gray"),
    ]
}

extension FlowGraph.MessageKind {
    fileprivate var mermaidLine: String {
        switch self {
        case .command: "-->"
        case .event, .error, .document: "-.->"
        case .flow: "==>"
        }
    }
}
