import FlowFiles
import Foundation
import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@testable import FlowDrawing

/// The flows that the tests draw.
enum DrawnFlows {
    /// The flows of the project, of its examples, and of the tests of drawings.
    static func all() throws -> [Flow] {
        let files = ["Tests/Fixtures/FlowDrawings/shop.yaml", "Examples/Coffee/flow.yaml"].map(Repository.path)
        let texts = try ShippedFlows.texts() + files.map { try String(contentsOfFile: $0, encoding: .utf8) }
        return try texts.map { try Flow(yaml: $0, file: "flow.yaml") }
    }

    /// A flow of parts with ten screens. In each part, a list leads to details, and these to others and back.
    static func large(screens: Int, rules: Int) throws -> Flow {
        try Flow("large", version: 1, platform: "any", start: "screen0") {
            for index in 0..<screens { Flow.Screen("screen\(index)", sends: ["command.Go\(index)"]) }
            for index in 0..<rules {
                let (from, round) = (index % screens, index / screens)
                let first = from / 10 * 10
                let to = [max(first, from - 3), (from + 1) % screens, (from + 10) % screens, first][round % 4]
                Flow.Transition(
                    on: "command.Go\(from)", when: [.root(.screen("screen\(round)"))],
                    do: [.push(.screen("screen\(to)"))])
            }
        }
    }
}

extension DrawingLayout {
    /// Checks what a reader of any drawing relies on.
    func check(_ drawing: FlowDrawing, tolerance: Double = 4) {
        #expect(cards.count == drawing.boxes.count && arrows.count == drawing.arrows.count)
        #expect(frames.count == drawing.flows.count)
        #expect(width.isFinite && height.isFinite && width > 0 && height > 0)
        for (index, card) in cards.enumerated() {
            #expect(contains(card), "\(drawing.boxes[index].id) is outside")
            for other in cards[..<index] {
                #expect(!card.overlaps(other), "\(drawing.name): \(drawing.boxes[index].id) covers another card")
            }
        }
        for (index, flow) in drawing.flows.enumerated() {
            #expect(contains(frames[index]))
            for (card, box) in zip(cards, drawing.boxes) {
                #expect(card.overlaps(frames[index]) == (box.flow == flow), "\(flow) has the wrong cards: \(box.id)")
            }
        }
        for (arrow, ends) in zip(arrows, drawing.arrows) {
            #expect(contains(arrow.label))
            #expect(arrow.path.count % 3 == 1 && arrow.path.count > 1)
            #expect(arrow.path.allSatisfy { contains(Rectangle($0)) })
            guard let start = arrow.path.first, let end = arrow.path.last else { continue }
            #expect(cards[ends.from].distance(toBorder: start) <= tolerance)
            #expect(cards[ends.to].distance(toBorder: end) <= tolerance)
        }
    }

    private func contains(_ part: Rectangle) -> Bool {
        [part.x, part.y, part.width, part.height].allSatisfy(\.isFinite)
            && part.x >= 0 && part.y >= 0 && part.x + part.width <= width && part.y + part.height <= height
    }
}

extension DrawingLayout.Rectangle {
    fileprivate init(_ point: DrawingLayout.Point) {
        self.init(x: point.x, y: point.y, width: 0, height: 0)
    }

    fileprivate func overlaps(_ other: Self) -> Bool {
        x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
    }

    fileprivate func distance(toBorder point: DrawingLayout.Point) -> Double {
        let (dx, dy) = (abs(point.x - x - width / 2) - width / 2, abs(point.y - y - height / 2) - height / 2)
        return abs(max(dx, dy))
    }
}
