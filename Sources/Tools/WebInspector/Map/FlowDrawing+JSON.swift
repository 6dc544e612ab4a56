internal import Contracts
internal import FlowDrawing
internal import FlowReview
internal import Navigation
internal import Support

extension FlowDrawing {
    /// The maximum lengths of a text and of a command's name, in Unicode scalars.
    private static let (textLength, nameLength) = (400, 100)
    /// The maximum numbers of an arrow's lines and of a card's commands.
    private static let (lineLimit, commandLimit) = (40, 100)

    /// The drawing and its layout as the page reads them. All texts are printable and cut.
    func json(of document: Document.Flow, _ layout: DrawingLayout, note: String?) -> JSONValue {
        func text(_ value: String) -> JSONValue { .string(value.shown(to: Self.textLength)) }
        // A longer name, or key of a rule, is never compared; see ``NavigationHistory/nameLength``.
        func isShort(_ name: String) -> Bool { name.utf8.count <= NavigationHistory.nameLength }
        let cards = zip(boxes, layout.cards).map { box, place -> JSONValue in
            .object(
                place.json.merging([
                    "screen": box.screen.map { isShort($0) ? .string($0) : text($0) } ?? .null,
                    "title": box.title.map(text) ?? .null,
                    "kind": .string(box.kind.rawValue),
                    "styles": .array(box.styles.map { .string($0.rawValue) }),
                    "sends": .array(
                        box.sends.prefix(Self.commandLimit).map { .string($0.shown(to: Self.nameLength)) }),
                ]) { $1 })
        }
        let frames = zip(flows, layout.frames).map { flow, place -> JSONValue in
            .object(place.json.merging(["flow": text(flow)]) { $1 })
        }
        let arrows = zip(arrows, layout.arrows).map { arrow, place -> JSONValue in
            [
                "from": .integer(arrow.from), "to": .integer(arrow.to),
                "rules": .array(arrow.rules.filter(isShort).map(JSONValue.string)),
                "places": .array(arrow.places.filter(isShort).map(JSONValue.string)),
                "kind": .string(arrow.kind.rawValue),
                "isLink": .bool(arrow.isLink), "message": text(arrow.message), "words": .array(arrow.words.map(text)),
                "lines": .array(arrow.lines.prefix(Self.lineLimit).map(text)),
                "path": .array(place.path.map { .array([$0.x.rounded, $0.y.rounded]) }),
                "label": .object(place.label.json),
            ]
        }
        return [
            "platform": .string(document.platform), "name": text(document.name),
            "version": .integer(document.version), "hash": text(document.hash),
            "layout": .string(note == nil ? "graphviz" : "ranks"), "note": note.map(text) ?? .null,
            "width": layout.width.rounded, "height": layout.height.rounded, "cards": .array(cards),
            "frames": .array(frames), "arrows": .array(arrows),
        ]
    }
}

extension DrawingLayout.Rectangle {
    fileprivate var json: [String: JSONValue] {
        ["x": x.rounded, "y": y.rounded, "width": width.rounded, "height": height.rounded]
    }
}

extension Double {
    /// The number with one decimal place, which is precise enough for a pixel.
    fileprivate var rounded: JSONValue { .number((self * 10).rounded() / 10) }
}
