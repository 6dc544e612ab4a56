extension DrawingLayout {
    /// Lays out a drawing without Graphviz: a screen is in the column of its distance from the start, and each child
    /// flow has a band of its own below the main flow. The same drawing has the same layout each time.
    package static func byRanks(of drawing: FlowDrawing) -> DrawingLayout {
        var layout = RankLayout(drawing)
        layout.order()
        return layout.placed()
    }
}

/// The layout of a drawing by ranks.
private struct RankLayout {
    private let drawing: FlowDrawing
    /// The column of each box, from 0.
    private var columns: [Int]
    /// The band of each box: 0 for the main flow, then the child flows.
    private let bands: [Int]
    /// The boxes of each band and column, from top to bottom.
    private var cells: [[[Int]]]
    /// The boxes at the other ends of each box's arrows.
    private var neighbors: [[Int]]
    private let selfArrows: SelfArrows

    /// A longer rank is divided into several columns.
    private static let columnLength = 10

    init(_ drawing: FlowDrawing) {
        self.drawing = drawing
        selfArrows = SelfArrows(of: drawing)
        let flows = Dictionary(zip(drawing.flows, 1...)) { first, _ in first }
        bands = drawing.boxes.map { $0.flow.flatMap { flows[$0] } ?? 0 }
        columns = Self.columns(of: drawing, bands: bands)
        let count = (columns.max() ?? 0) + 1
        cells = Array(repeating: Array(repeating: [], count: count), count: drawing.flows.count + 1)
        neighbors = Array(repeating: [], count: drawing.boxes.count)
        for box in drawing.boxes.indices { cells[bands[box]][columns[box]].append(box) }
        for arrow in drawing.arrows where bands[arrow.from] == bands[arrow.to] {
            neighbors[arrow.from].append(arrow.to)
            neighbors[arrow.to].append(arrow.from)
        }
    }

    // MARK: Columns

    private static func columns(of drawing: FlowDrawing, bands: [Int]) -> [Int] {
        let boxes = drawing.boxes
        let places = boxes.indices.filter { boxes[$0].kind == .somewhere && !boxes[$0].isBeneath }
        let starts = boxes.indices.filter { boxes[$0].kind == .start }
        var ranks = self.ranks(of: drawing, from: starts, places)
        // "anywhere" is before the screens of its child flow, and "the screen beneath" after all screens.
        for place in places where bands[place] > 0 {
            let others = boxes.indices.filter { bands[$0] == bands[place] && $0 != place }
            ranks[place] = max(0, (others.map { ranks[$0] }.min() ?? 1) - 1)
        }
        let last = (ranks.max() ?? 0) + 1
        for box in boxes.indices where boxes[box].isBeneath { ranks[box] = last }

        var columns = ranks
        var first = 0
        let members = Dictionary(grouping: boxes.indices, by: { ranks[$0] })
        for (_, members) in members.sorted(by: { $0.key < $1.key }) {
            var counts: [Int: Int] = [:]
            for box in members {
                columns[box] = first + counts[bands[box], default: 0] / columnLength
                counts[bands[box], default: 0] += 1
            }
            first = (members.map { columns[$0] }.max() ?? first) + 1
        }
        return columns
    }

    /// The distance of each box from the start. Boxes that are not reached from it are reached from `places`, or else
    /// have the distance 0.
    private static func ranks(of drawing: FlowDrawing, from starts: [Int], _ places: [Int]) -> [Int] {
        var targets: [[Int]] = Array(repeating: [], count: drawing.boxes.count)
        for arrow in drawing.arrows { targets[arrow.from].append(arrow.to) }
        var ranks: [Int?] = Array(repeating: nil, count: drawing.boxes.count)
        for roots in [starts, places] + drawing.boxes.indices.map({ [$0] }) {
            var queue = roots.filter { ranks[$0] == nil }
            for box in queue { ranks[box] = 0 }
            var next = 0
            while next < queue.count {
                let box = queue[next]
                next += 1
                for target in targets[box] where ranks[target] == nil {
                    ranks[target] = (ranks[box] ?? 0) + 1
                    queue.append(target)
                }
            }
        }
        return ranks.map { $0 ?? 0 }
    }

    // MARK: Order

    /// Orders each column by the mean height of the boxes to which its boxes are connected, so that fewer arrows cross.
    mutating func order() {
        var heights = Array(repeating: 0.0, count: drawing.boxes.count)
        for band in cells.indices {
            for cell in cells[band] { Self.center(cell, in: &heights) }
            for pass in 0..<6 {
                let isForward = pass.isMultiple(of: 2)
                for column in isForward ? Array(cells[band].indices) : cells[band].indices.reversed() {
                    let means = cells[band][column].enumerated().map { index, box in
                        let sides = neighbors[box].filter {
                            isForward ? columns[$0] < column : columns[$0] > column
                        }
                        let mean =
                            sides.isEmpty
                            ? heights[box] : sides.reduce(0) { $0 + heights[$1] } / Double(sides.count)
                        return (mean: mean, index: index, box: box)
                    }
                    cells[band][column] = means.sorted { ($0.mean, $0.index) < ($1.mean, $1.index) }.map(\.box)
                    Self.center(cells[band][column], in: &heights)
                }
            }
        }
    }

    private static func center(_ cell: [Int], in heights: inout [Double]) {
        for (index, box) in cell.enumerated() { heights[box] = Double(index) - Double(cell.count - 1) / 2 }
    }

    // MARK: Places

    private static let cardSize = DrawingLayout.Size(width: 132, height: 88)
    private static let bandGap = 96.0

    func placed() -> DrawingLayout {
        let cards = placedCards()
        let frames = drawing.flows.indices.map { flow in frame(around: cells[flow + 1].joined().map { cards[$0] }) }
        return DrawingLayout(
            cards: cards, frames: frames, arrows: ArrowRouter(drawing, columns, cards, selfArrows).arrows())
    }

    private func placedCards() -> [DrawingLayout.Rectangle] {
        let lefts = leftEdges()
        let rowHeight = Self.cardSize.height + selfArrows.height + 40
        var cards = drawing.boxes.map { DrawingLayout.Rectangle(center: .init(x: 0, y: 0), size: $0.size) }
        var top = 0.0
        for band in cells.indices {
            let rows = Double(cells[band].map(\.count).max() ?? 0)
            let height = rows * rowHeight
            for (column, cell) in cells[band].enumerated() {
                for (index, box) in cell.enumerated() {
                    let row = (rows - Double(cell.count)) / 2 + Double(index) + 0.5
                    let center = DrawingLayout.Point(
                        x: lefts[column] + Self.cardSize.width / 2,
                        y: top + row * rowHeight)
                    cards[box] = DrawingLayout.Rectangle(center: center, size: drawing.boxes[box].size)
                }
            }
            if rows > 0 { top += height + Self.bandGap }
        }
        return cards
    }

    /// The left edge of each column. Between columns is space for the labels of the arrows that start there.
    private func leftEdges() -> [Double] {
        var gaps = Array(repeating: 72.0, count: cells[0].count)
        for arrow in drawing.arrows where columns[arrow.to] >= columns[arrow.from] && arrow.from != arrow.to {
            gaps[columns[arrow.from]] = max(gaps[columns[arrow.from]], arrow.labelSize.width + 48)
        }
        return gaps.dropLast().reduce(into: [0]) { $0.append(($0.last ?? 0) + Self.cardSize.width + $1) }
    }

    private func frame(around cards: [DrawingLayout.Rectangle]) -> DrawingLayout.Rectangle {
        let left = cards.map(\.x).min() ?? 0
        let top = (cards.map(\.y).min() ?? 0) - selfArrows.height
        let right = cards.map { $0.x + $0.width }.max() ?? 0
        let bottom = cards.map { $0.y + $0.height }.max() ?? 0
        return DrawingLayout.Rectangle(x: left - 18, y: top - 30, width: right - left + 36, height: bottom - top + 48)
    }
}

/// Draws the arrows between cards that are in columns.
private struct ArrowRouter {
    private let drawing: FlowDrawing
    private let columns: [Int]
    private let cards: [DrawingLayout.Rectangle]
    private let selfArrows: SelfArrows

    init(_ drawing: FlowDrawing, _ columns: [Int], _ cards: [DrawingLayout.Rectangle], _ selfArrows: SelfArrows) {
        self.selfArrows = selfArrows
        self.drawing = drawing
        self.columns = columns
        self.cards = cards
    }

    /// The edge of a card at which an arrow starts or ends.
    private enum Side {
        case left
        case right
        case bottom
    }

    private struct End: Hashable {
        let box: Int
        let side: Side
    }

    func arrows() -> [DrawingLayout.Arrow] {
        let ports = ports()
        let paths = drawing.arrows.indices.map { path(of: $0, from: ports.starts[$0], to: ports.ends[$0]) }
        let labels = labels(on: paths)
        return drawing.arrows.indices.map { index in
            let arrow = drawing.arrows[index]
            return selfArrows.arrow(index, label: arrow.labelSize, at: cards[arrow.from])
                ?? DrawingLayout.Arrow(path: paths[index], label: labels[index])
        }
    }

    private func sides(of arrow: FlowDrawing.Arrow) -> (start: Side, end: Side) {
        if columns[arrow.from] < columns[arrow.to] { return (.right, .left) }
        return columns[arrow.from] == columns[arrow.to] ? (.right, .right) : (.bottom, .bottom)
    }

    // MARK: Ports

    /// The points at which the arrows start and end. The arrows at one edge of a card divide it into equal parts, in
    /// the order of the cards at their other ends.
    private func ports() -> (starts: [DrawingLayout.Point], ends: [DrawingLayout.Point]) {
        var uses: [End: [(arrow: Int, isStart: Bool, order: Double)]] = [:]
        for (index, arrow) in drawing.arrows.enumerated() where arrow.from != arrow.to {
            let (start, end) = sides(of: arrow)
            let order: (Int, Side) -> Double = { box, side in
                side == .bottom ? cards[box].center.x : cards[box].center.y
            }
            uses[End(box: arrow.from, side: start), default: []].append((index, true, order(arrow.to, start)))
            uses[End(box: arrow.to, side: end), default: []].append((index, false, order(arrow.from, end)))
        }
        let origin = DrawingLayout.Point(x: 0, y: 0)
        var starts = Array(repeating: origin, count: drawing.arrows.count)
        var ends = starts
        for (end, uses) in uses {
            let card = cards[end.box]
            let sorted = uses.sorted {
                ($0.order, $0.arrow, $0.isStart ? 0 : 1) < ($1.order, $1.arrow, $1.isStart ? 0 : 1)
            }
            for (index, use) in sorted.enumerated() {
                let part = Double(index + 1) / Double(uses.count + 1)
                let point: DrawingLayout.Point =
                    switch end.side {
                    case .left: .init(x: card.x, y: card.y + part * card.height)
                    case .right: .init(x: card.x + card.width, y: card.y + part * card.height)
                    case .bottom: .init(x: card.x + part * card.width, y: card.y + card.height)
                    }
                if use.isStart { starts[use.arrow] = point } else { ends[use.arrow] = point }
            }
        }
        return (starts, ends)
    }

    // MARK: Curves

    private func path(
        of index: Int, from start: DrawingLayout.Point, to end: DrawingLayout.Point
    ) -> [DrawingLayout.Point] {
        let arrow = drawing.arrows[index]
        switch sides(of: arrow).start {
        case .right where columns[arrow.from] < columns[arrow.to]:
            let bend = (end.x - start.x) / 2
            return [start, .init(x: start.x + bend, y: start.y), .init(x: end.x - bend, y: end.y), end]
        case .right, .left:
            let bend = 48 + min(abs(end.y - start.y) / 4, 48)
            return [start, .init(x: start.x + bend, y: start.y), .init(x: end.x + bend, y: end.y), end]
        case .bottom:
            let depth = max(start.y, end.y) + 48 + min(abs(end.x - start.x) / 16, 64)
            return [start, .init(x: start.x, y: depth), .init(x: end.x, y: depth), end]
        }
    }

    // MARK: Labels

    /// The labels, each on its curve between two columns, or in the middle of a curve beneath. A label that would cover
    /// another one is moved down.
    private func labels(on paths: [[DrawingLayout.Point]]) -> [DrawingLayout.Rectangle] {
        var labels: [DrawingLayout.Rectangle] = []
        var groups: [Int: [Int]] = [:]
        for (index, arrow) in drawing.arrows.enumerated() {
            let path = paths[index]
            let isBack = columns[arrow.from] > columns[arrow.to]
            let gap = arrow.labelSize.width / 2 + 24
            let point = isBack ? path.cubic(at: 0.5) : path.cubic(untilX: path[0].x + gap)
            labels.append(DrawingLayout.Rectangle(center: point, size: arrow.labelSize))
            // Labels after the same column may cover each other, and so may labels beneath, if they are close.
            let group = isBack ? -1 - Int(min(max(point.x, 0), 1_000_000)) / 200 : columns[arrow.from]
            if arrow.from != arrow.to { groups[group, default: []].append(index) }
        }
        for group in groups.values {
            var bottom = -Double.infinity
            for index in group.sorted(by: { (labels[$0].y, $0) < (labels[$1].y, $1) }) {
                labels[index].y = max(labels[index].y, bottom + 2)
                bottom = labels[index].y + labels[index].height
            }
        }
        return labels
    }
}

extension [DrawingLayout.Point] {
    /// The point of the curve of four points at the parameter `t`.
    fileprivate func cubic(at t: Double) -> DrawingLayout.Point {
        let s = 1 - t
        let weights = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t]
        return zip(self, weights).reduce(into: .init(x: 0, y: 0)) { sum, part in
            sum.x += part.0.x * part.1
            sum.y += part.0.y * part.1
        }
    }

    /// The first point of the curve at `x`, or its middle if that is before it.
    fileprivate func cubic(untilX x: Double) -> DrawingLayout.Point {
        var (low, high) = (0.0, 0.5)
        if cubic(at: high).x <= x { return cubic(at: high) }
        for _ in 0..<20 {
            let middle = (low + high) / 2
            if cubic(at: middle).x < x { low = middle } else { high = middle }
        }
        return cubic(at: high)
    }
}
