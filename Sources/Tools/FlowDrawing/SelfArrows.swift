/// The arrows that lead back to their own card. Both layouts draw them above the card, in the space that they leave
/// between cards: Graphviz reserves too little space for them.
struct SelfArrows {
    /// The height above a card that its arrows need. It is the same for all cards; zero if no card has such an arrow.
    let height: Double
    /// The arrows, by index, with their height above the card.
    private let heights: [Int: Double]

    /// The space between a card and the first curve's top.
    private static let rise = 14.0
    private static let gap = 4.0
    /// More arrows at one card are drawn over each other. Otherwise a flow from outside could have a drawing of any
    /// height.
    private static let levels = 3

    init(of drawing: FlowDrawing) {
        var heights: [Int: Double] = [:]
        var tops: [Int: (level: Int, height: Double)] = [:]
        for (index, arrow) in drawing.arrows.enumerated() where arrow.from == arrow.to {
            var top = tops[arrow.from] ?? (0, Self.rise)
            heights[index] = top.height
            top.level += 1
            if top.level < Self.levels { top.height += arrow.labelSize.height + Self.gap }
            tops[arrow.from] = top
        }
        self.heights = heights
        height = heights.map { $1 + drawing.arrows[$0].labelSize.height + Self.gap }.max() ?? 0
    }

    /// The arrow with its label above its curve. Nil for an arrow that leads to another card.
    func arrow(_ index: Int, label size: DrawingLayout.Size, at card: DrawingLayout.Rectangle) -> DrawingLayout.Arrow? {
        guard let height = heights[index] else { return nil }
        let (left, right) = (card.x + card.width * 0.38, card.x + card.width * 0.62)
        // The curve's top is at three quarters of the height of its control points.
        let control = card.y - height / 0.75
        return DrawingLayout.Arrow(
            path: [
                .init(x: left, y: card.y), .init(x: left - 16, y: control), .init(x: right + 16, y: control),
                .init(x: right, y: card.y),
            ],
            label: DrawingLayout.Rectangle(
                center: .init(x: card.center.x, y: card.y - height - size.height / 2 - 1), size: size))
    }
}
