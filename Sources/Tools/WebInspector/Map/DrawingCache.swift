internal import Contracts
internal import FlowDrawing
internal import Navigation
internal import Support
internal import SystemSupport
internal import WebPage

/// Reads and draws flows, one at a time, and keeps the results of the last ones.
///
/// A flow from the bus may take a second to read or to draw, so this is done on a queue of its own.
actor DrawingCache {
    /// The maximum number of flows, and of drawings, that are kept.
    private static let limit = 32
    /// The time after which a drawing is made again, because Graphviz may be installed now.
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
        return Drawing(
            answer: .success(answer),
            end: note == GraphvizError.notInstalled.description ? .now + Self.notePatience : nil)
    }
}
