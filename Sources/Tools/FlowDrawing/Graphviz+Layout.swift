internal import Foundation
internal import Support

extension Graphviz {
    /// The maximum size of a layout in bytes.
    private static let layoutLimit = 16 << 20
    private static let inputLimit = 8 << 20

    /// Lays out a drawing.
    /// - Parameter timeLimit: The time after which the program is killed.
    /// - Throws: ``GraphvizError``, or `CancellationError`.
    package func layout(of drawing: FlowDrawing, timeLimit: Duration = .seconds(5)) async throws -> DrawingLayout {
        let input = drawing.skeleton
        if input.utf8.count > Self.inputLimit { throw GraphvizError.failed("the flow is too large") }
        let json = try await withTimeLimit(timeLimit, orThrow: GraphvizError.tooSlow(timeLimit)) {
            try await run("-Tjson0", input: input, limit: Self.layoutLimit)
        }
        return try LayoutReader(drawing).layout(json)
    }
}

extension FlowDrawing {
    /// The sizes of the drawing's parts in Graphviz's language. They are numbers only: no text of the flow gets to
    /// Graphviz, whose parsers need not be safe for it.
    var skeleton: String {
        let above = SelfArrows(of: self).height
        var lines = [
            "digraph {",
            // The unit is the inch.
            "  graph [rankdir=LR, nodesep=\((above + 48) / 72), ranksep=0.4, splines=true]",
            "  node [shape=box, fixedsize=true, label=\"\"]", "  edge [dir=none]",
        ]
        lines += boxes.enumerated().map { index, box in
            "  s\(index) [width=\(box.size.width / 72), height=\(box.size.height / 72)]"
        }
        let members = Dictionary(grouping: boxes.indices, by: { boxes[$0].flow })
        for (index, flow) in flows.enumerated() {
            let names = (members[flow] ?? []).map { " s\($0);" }.joined()
            lines.append("  subgraph cluster_\(index) { margin=\(18 + Int(above));\(names) }")
        }
        lines += boxes.indices.filter { boxes[$0].kind == .start }.map { "  { rank=source; s\($0) }" }
        lines += arrows.enumerated().filter { $1.from != $1.to }.map { index, arrow in
            let size = arrow.labelSize
            let cell = "<td fixedsize=\"true\" width=\"\(Int(size.width))\" height=\"\(Int(size.height))\"></td>"
            let table =
                "<table border=\"0\" cellborder=\"0\" cellpadding=\"0\" cellspacing=\"0\"><tr>\(cell)</tr></table>"
            return "  s\(arrow.from) -> s\(arrow.to) [id=e\(index), label=<\(table)>]"
        }
        return (lines + ["}"]).map { "\($0)\n" }.joined()
    }
}

/// Reads the positions that Graphviz has computed. It trusts none of its numbers.
private struct LayoutReader {
    private let drawing: FlowDrawing

    init(_ drawing: FlowDrawing) {
        self.drawing = drawing
    }

    func layout(_ text: String) throws(GraphvizError) -> DrawingLayout {
        guard let json = try? JSONValue(parsing: Data(text.utf8)), json.objectValue != nil else {
            throw .unreadable("it is not JSON")
        }
        let objects = index(json["objects"], by: "name")
        let edges = index(json["edges"], by: "id")
        var cards: [DrawingLayout.Rectangle] = []
        for (index, box) in drawing.boxes.enumerated() {
            let center = try numbers(objects["s\(index)"]?["pos"], "a card", count: 2...2)
            cards.append(DrawingLayout.Rectangle(center: .init(x: center[0], y: -center[1]), size: box.size))
        }
        var frames: [DrawingLayout.Rectangle] = []
        for index in drawing.flows.indices {
            let corners = try numbers(objects["cluster_\(index)"]?["bb"], "a child flow", count: 4...4)
            guard corners[2] >= corners[0], corners[3] >= corners[1] else {
                throw .unreadable("a child flow has no size")
            }
            frames.append(
                DrawingLayout.Rectangle(
                    x: corners[0], y: -corners[3], width: corners[2] - corners[0], height: corners[3] - corners[1]))
        }
        var arrows: [DrawingLayout.Arrow] = []
        let selfArrows = SelfArrows(of: drawing)
        for (index, arrow) in drawing.arrows.enumerated() {
            if let own = selfArrows.arrow(index, label: arrow.labelSize, at: cards[arrow.from]) {
                arrows.append(own)
                continue
            }
            let edge = edges["e\(index)"]
            let path = try numbers(edge?["pos"], "an arrow", count: 8...8_000)
            guard path.count % 6 == 2 else { throw .unreadable("an arrow is not a curve") }
            let center = try numbers(edge?["lp"], "a label", count: 2...2)
            arrows.append(
                DrawingLayout.Arrow(
                    path: stride(from: 0, to: path.count, by: 2).map { .init(x: path[$0], y: -path[$0 + 1]) },
                    label: DrawingLayout.Rectangle(
                        center: .init(x: center[0], y: -center[1]), size: arrow.labelSize)))
        }
        return DrawingLayout(cards: cards, frames: frames, arrows: arrows)
    }

    private func index(_ list: JSONValue?, by key: String) -> [String: JSONValue] {
        let named = (list?.arrayValue ?? []).compactMap { element in
            (element[key]?.stringValue).map { ($0, element) }
        }
        return Dictionary(named) { first, _ in first }
    }

    /// The largest distance from the origin that is accepted.
    private static let greatest = 1_000_000.0

    /// The numbers of an attribute such as `66,181 70,181`, which are separated by commas and spaces.
    private func numbers(
        _ value: JSONValue?, _ what: String, count: ClosedRange<Int>
    ) throws(GraphvizError) -> [Double] {
        guard let text = value?.stringValue else { throw .unreadable("\(what) has no position") }
        let parts = text.split(scalar: " ").flatMap { $0.split(scalar: ",") }
        guard count.contains(parts.count) else { throw .unreadable("the position of \(what) is incomplete") }
        let numbers = parts.compactMap { Double($0) }.filter { $0.isFinite && abs($0) <= Self.greatest }
        guard numbers.count == parts.count else {
            throw .unreadable("a number in the position of \(what) is not in bounds")
        }
        return numbers
    }
}
