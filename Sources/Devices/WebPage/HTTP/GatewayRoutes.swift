internal import HTTPTypes
internal import Hummingbird
internal import SignIn
internal import Support

/// The gateway's answers to a page, besides those of the page's features.
struct GatewayRoutes: Sendable {
    let hub: Hub
    let browsers: BrowserSignIn
    let assets: Assets
    let features: [any PageFeature]
    let clock: any Clock<Duration>

    /// With `X-Accel-Buffering`, a proxy of nginx passes each event on at once instead of filling a buffer.
    private static let streamHeaders: HTTPFields = [
        .contentType: "text/event-stream", .cacheControl: "no-store", .known("X-Accel-Buffering"): "no",
    ]

    func signIn(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try await browsers.exchange(request)
    }

    func asset(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try assets.answer(request, to: context.signedIn())
    }

    func stream(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let name = try Self.stream(context)
        var greeting: [String: JSONValue] = [:]
        for feature in features { greeting.merge(await feature.greeting()) { first, _ in first } }
        let connection = try await hub.connect(name, lastEventID: request.headers[.lastEventID], greeting: greeting)
        let (hub, clock) = (hub, clock)
        return Response(
            status: .ok, headers: Self.streamHeaders,
            body: ResponseBody { writer in
                do {
                    var wakes = connection.wakes.makeAsyncIterator()
                    while let step = await hub.step(connection) {
                        switch step {
                        case .send(let bytes): try await writer.write(ByteBuffer(bytes: bytes))
                        case .wait(let time): try await clock.sleep(for: time)
                        case .idle: if await wakes.next() == nil { break }
                        }
                        if Task.isCancelled { break }
                    }
                    await hub.disconnect(connection)
                    try await writer.finish(nil)
                } catch {
                    await hub.disconnect(connection)
                    throw error
                }
            })
    }

    func views(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let stream = try Self.stream(context)
        let body = try await request.object()
        for view in body["close"]?.arrayValue ?? [] {
            guard let id = view.stringValue else { throw RequestError.malformed("'close' has to be a list of ids") }
            try await hub.close(ViewName(stream: stream, id: id))
        }
        let opened = body["open"]?.arrayValue ?? []
        guard opened.count <= PageStream.viewLimit else {
            throw RequestError.busy("a stream has at most \(PageStream.viewLimit) views")
        }
        for view in opened { try await open(view, on: stream) }
        return .done
    }

    private func open(_ view: JSONValue, on stream: StreamName) async throws {
        let id = try (view["id"]?.stringValue ?? "").checkedName(lengths: 1...40, of: "a view's id")
        let kind = view["kind"]?.stringValue ?? ""
        guard let feature = features.first(where: { $0.kinds[kind] != nil }) else {
            let kinds = features.flatMap(\.kinds.keys).sorted()
            let list = kinds.dropLast().joined(separator: ", ")
            throw RequestError.malformed("'kind' has to be \(list) or \(kinds.last ?? "")")
        }
        if feature.kinds[kind] != .everybody, let session = stream.access.session {
            throw RequestError.notOperator(session)
        }
        try await feature.open(ViewRequest(name: ViewName(stream: stream, id: id), kind: kind, json: view))
    }

    private static func stream(_ context: GatewayContext) throws -> StreamName {
        let id = try context.parameters.require("stream").checkedName(lengths: 8...40, of: "a stream's id")
        return StreamName(id, for: try context.signedIn())
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = Self.known("Last-Event-ID")
}
