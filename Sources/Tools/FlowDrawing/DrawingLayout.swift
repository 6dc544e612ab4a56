internal import Support

/// The places of a drawing's parts, in CSS pixels. The origin is the top left corner, and y grows downwards.
package struct DrawingLayout: Hashable, Sendable {
    package struct Point: Hashable, Sendable {
        package var x: Double
        package var y: Double

        package init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }
    }

    package struct Size: Hashable, Sendable {
        package var width: Double
        package var height: Double
    }

    package struct Rectangle: Hashable, Sendable {
        /// The left edge.
        package var x: Double
        /// The top edge.
        package var y: Double
        package var width: Double
        package var height: Double

        var center: Point { Point(x: x + width / 2, y: y + height / 2) }

        init(x: Double, y: Double, width: Double, height: Double) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }

        init(center: Point, size: Size) {
            self.init(
                x: center.x - size.width / 2, y: center.y - size.height / 2, width: size.width, height: size.height)
        }
    }

    package struct Arrow: Hashable, Sendable {
        /// A piecewise cubic Bézier curve from start to tip: 1 + 3n points.
        package var path: [Point]
        package var label: Rectangle
    }

    package private(set) var width: Double
    package private(set) var height: Double
    /// The rectangles of ``FlowDrawing/boxes``.
    package private(set) var cards: [Rectangle]
    /// The rectangles of ``FlowDrawing/flows``.
    package private(set) var frames: [Rectangle]
    /// The curves and labels of ``FlowDrawing/arrows``.
    package private(set) var arrows: [Arrow]

    /// The space around the drawing.
    private static let margin = 12.0

    /// Moves the parts so that all of them are within the drawing.
    init(cards: [Rectangle], frames: [Rectangle], arrows: [Arrow]) {
        let rectangles = cards + frames + arrows.map(\.label)
        let points = arrows.flatMap(\.path)
        let left = (rectangles.lazy.map(\.x) + points.lazy.map(\.x)).min() ?? 0
        let top = (rectangles.lazy.map(\.y) + points.lazy.map(\.y)).min() ?? 0
        let right = (rectangles.lazy.map { $0.x + $0.width } + points.lazy.map(\.x)).max() ?? 0
        let bottom = (rectangles.lazy.map { $0.y + $0.height } + points.lazy.map(\.y)).max() ?? 0
        let (x, y) = (Self.margin - left, Self.margin - top)
        width = right - left + 2 * Self.margin
        height = bottom - top + 2 * Self.margin
        self.cards = cards.map { $0.moved(x: x, y: y) }
        self.frames = frames.map { $0.moved(x: x, y: y) }
        self.arrows = arrows.map { arrow in
            Arrow(
                path: arrow.path.map { Point(x: $0.x + x, y: $0.y + y) }, label: arrow.label.moved(x: x, y: y))
        }
    }

    /// Lays out a drawing, with Graphviz if it can.
    /// - Returns: The layout, and the reason why Graphviz did not make it, on one line. The reason is nil if it did.
    package static func layout(
        of drawing: FlowDrawing, by graphviz: Graphviz = Graphviz(), timeLimit: Duration = .seconds(5)
    ) async -> (layout: DrawingLayout, note: String?) {
        do {
            return (try await graphviz.layout(of: drawing, timeLimit: timeLimit), nil)
        } catch let error as GraphvizError {
            return (.byRanks(of: drawing), error.description)
        } catch {
            // The caller was cancelled, and will not use the layout.
            return (.byRanks(of: drawing), "The drawing was cancelled.")
        }
    }
}

extension DrawingLayout.Rectangle {
    fileprivate func moved(x: Double, y: Double) -> Self {
        Self(x: self.x + x, y: self.y + y, width: width, height: height)
    }
}

extension FlowDrawing.Box {
    /// The size of the box's card.
    var size: DrawingLayout.Size {
        kind == .somewhere
            ? DrawingLayout.Size(width: 104, height: 36) : DrawingLayout.Size(width: 132, height: 88)
    }
}

extension FlowDrawing.Arrow {
    /// The approximate size of the label, in a font of 12 px.
    var labelSize: DrawingLayout.Size {
        let columns = words.map { $0.reduce(0) { $0 + $1.columns } }.max() ?? 0
        return DrawingLayout.Size(
            width: (Double(columns) * 6.8 + 12).rounded(.up), height: Double(words.count) * 15 + 6)
    }
}
