internal import Contracts
internal import EventBus
internal import FlowDrawing
internal import FlowFiles
internal import FlowReview
internal import Foundation
internal import HTTPTypes
internal import Navigation
internal import Support
internal import SystemSupport
internal import WebPage

/// The flow of a document, as far as it can be read, and what a map needs of it.
struct ReadFlow: Sendable {
    /// The maximum size of a flow in bytes of YAML.
    static let limit = 256 << 10

    let flow: Result<Flow, RequestError>
    /// The kind of the message that each rule or link answers, by key.
    let kinds: [String: String]
    /// The line of each rule or link in the source, by key.
    let lines: [String: Int]

    init(_ document: Document.Flow) {
        flow = Self.read(document)
        guard case .success(let flow) = flow else {
            (kinds, lines) = ([:], [:])
            return
        }
        var kinds: [String: String] = [:]
        let children = [(nil as String?, flow.transitions)] + flow.flows.map { ($0.key, $0.value.transitions) }
        for (child, rules) in children {
            for (index, rule) in rules.enumerated() {
                kinds[Flow.keyPath(ofRule: index, in: child)] = rule.on.cut(at: ".").map { String($0.before) }
            }
        }
        for index in flow.links.indices {
            kinds[Flow.keyPath(ofLink: index)] = DomainEvent.DeepLinkReceived.type.kind.rawValue
        }
        self.kinds = kinds
        lines = flow.ruleLocations.mapValues(\.line)
    }

    private static func read(_ document: Document.Flow) -> Result<Flow, RequestError> {
        guard document.source.utf8.count <= limit else {
            return .failure(.tooLargeFlow("the flow is larger than \(limit >> 10) KiB"))
        }
        do {
            return .success(try Flow(yaml: document.source, file: "\(document.platform).yaml"))
        } catch {
            let finding = error.findings.first?.description ?? "its source is empty"
            return .failure(
                RequestError(
                    status: .unprocessableContent, code: "flow.malformed",
                    message: "the flow cannot be drawn: \(finding)".shown(to: 300)))
        }
    }
}

/// Reads and draws flows, one at a time, and keeps the results of the last ones.
///
/// A flow from the bus may take seconds to read or to draw, so this is done on a queue of its own.
actor FlowDrawings {
    /// The maximum number of flows, and of drawings, that are kept.
    private static let limit = 8
    /// The time after which a drawing that Graphviz has not made is made again.
    private static let notePatience: Duration = .seconds(60)

    private struct Drawing {
        let answer: Result<[UInt8], RequestError>
        /// The time after which the drawing is made again. Nil for never.
        var end: ContinuousClock.Instant?
    }

    private let graphviz: Graphviz
    private let queue = FileQueue("flow-drawings")
    /// The newest is last.
    private var flows: [(document: Document.Flow, flow: ReadFlow)] = []
    private var drawings: [(document: Document.Flow, drawing: Drawing)] = []
    private var isDrawing = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(graphviz: Graphviz = Graphviz()) {
        self.graphviz = graphviz
    }

    /// The flow of a document.
    func read(_ document: Document.Flow) async throws -> ReadFlow {
        if document.source.utf8.count > ReadFlow.limit { return ReadFlow(document) }
        if let known = flows.first(where: { $0.document == document }) { return known.flow }
        let flow = try await queue.run { ReadFlow(document) }
        if !flows.contains(where: { $0.document == document }) { flows.append((document, flow)) }
        if flows.count > Self.limit { flows.removeFirst() }
        return flow
    }

    /// The drawing of a flow with its layout, as JSON.
    /// - Throws: ``RequestError`` if the flow cannot be drawn.
    func drawing(of document: Document.Flow) async throws -> [UInt8] {
        if document.source.utf8.count > ReadFlow.limit { _ = try ReadFlow(document).flow.get() }
        while true {
            if let drawing = known(document) { return try drawing.answer.get() }
            guard isDrawing else { break }
            await withCheckedContinuation { waiters.append($0) }
        }
        isDrawing = true
        defer {
            isDrawing = false
            for waiter in waiters { waiter.resume() }
            waiters = []
        }
        let drawing = try await draw(document)
        try Task.checkCancellation()
        drawings.removeAll { $0.document == document }
        drawings.append((document, drawing))
        if drawings.count > Self.limit { drawings.removeFirst() }
        return try drawing.answer.get()
    }

    private func known(_ document: Document.Flow) -> Drawing? {
        guard let drawing = drawings.first(where: { $0.document == document })?.drawing else { return nil }
        if let end = drawing.end, end < .now { return nil }
        return drawing
    }

    private func draw(_ document: Document.Flow) async throws -> Drawing {
        let flow: Flow
        switch try await read(document).flow {
        case .success(let read): flow = read
        case .failure(let error): return Drawing(answer: .failure(error))
        }
        let drawing: FlowDrawing
        do {
            drawing = try await queue.run { try FlowDrawing(of: flow) }
        } catch let error as FlowDrawing.TooLarge {
            return Drawing(answer: .failure(.tooLargeFlow(error.description)))
        }
        let (layout, note) = await DrawingLayout.layout(of: drawing, by: graphviz)
        let answer = try await queue.run {
            Array(drawing.json(of: document, layout, note: note).description.utf8)
        }
        return Drawing(answer: .success(answer), end: note == nil ? nil : .now + Self.notePatience)
    }
}

extension RequestError {
    fileprivate static func tooLargeFlow(_ message: String) -> Self {
        Self(status: .unprocessableContent, code: "flow.too-large", message: "the flow cannot be drawn: \(message)")
    }
}

extension FlowDrawing {
    /// The maximum lengths of a text and of a command's name, in Unicode scalars.
    private static let (textLength, nameLength) = (400, 100)
    /// The maximum numbers of an arrow's lines and of a card's commands.
    private static let (lineLimit, commandLimit) = (40, 100)

    /// The drawing and its layout as the page reads them. All texts are printable and cut.
    fileprivate func json(of document: Document.Flow, _ layout: DrawingLayout, note: String?) -> JSONValue {
        func text(_ value: String) -> JSONValue { .string(value.shown(to: Self.textLength)) }
        // A longer name, or key of a rule, is never compared; see ``RuleHistory/nameLength``.
        func isShort(_ name: String) -> Bool { name.utf8.count <= RuleHistory.nameLength }
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
