internal import AppContract
internal import Contracts
internal import Device
internal import EventBus
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Monitor
internal import ServiceLifecycle
internal import Support
internal import Synchronization

/// The answers of the gateway.
struct GatewayRoutes: Sendable {
    let hub: Hub
    let bus: EventBus
    let requests: MetricsRequests
    let browsers: BrowserSignIn
    let assets: Assets
    let scraping: BearerToken
    /// False if no program may read the metrics: the gateway listens for other machines, and there is no token.
    let scrapingIsOpen: Bool
    let version: String
    /// The screens with view models. Nil if no screen has a view model.
    let screens: AppScreens?
    let isReadOnly: Bool
    let logger: Logger
    let clock: any Clock<Duration>

    let turns = RequestPermits()

    /// With `X-Accel-Buffering`, a proxy of nginx passes each event on at once instead of filling a buffer.
    private static let streamHeaders: HTTPFields = [
        .contentType: "text/event-stream", .cacheControl: "no-store", .known("X-Accel-Buffering"): "no",
    ]

    /// The maximum time to wait for the bus.
    private static let busTimeout: Duration = .seconds(10)

    private var archive: MessageArchive { MessageArchive(bus: bus) }

    // MARK: The page

    func signIn(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try await browsers.exchange(request)
    }

    func asset(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try assets.answer(request)
    }

    func metrics(_ request: Request, _ context: GatewayContext) async throws -> Response {
        guard scrapingIsOpen, scraping.accepts(request) else {
            throw RequestError(
                status: .unauthorized, code: "no-token",
                message: "send 'Authorization: Bearer TOKEN', with the token of --metrics-token-file")
        }
        let reports = (try? await requests.ask(await hub.askedInstances)) ?? [:]
        let text = await hub.metrics(reports, version: version).text
        return Response(
            status: .ok, headers: [.contentType: Metrics.type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    // MARK: Streams

    func stream(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let id = try Self.name(try context.parameters.require("stream"), lengths: 8...40, of: "a stream's id")
        let connection = try await hub.connect(id, lastEventID: request.headers[.lastEventID])
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
        let stream = try Self.name(try context.parameters.require("stream"), lengths: 8...40, of: "a stream's id")
        let body = try await request.object()
        for view in body["close"]?.arrayValue ?? [] {
            guard let id = view.stringValue else { throw RequestError.malformed("'close' has to be a list of ids") }
            try await hub.close(id, on: stream)
        }
        let opened = body["open"]?.arrayValue ?? []
        guard opened.count <= PageStream.viewLimit else {
            throw RequestError.busy("a stream has at most \(PageStream.viewLimit) views")
        }
        for view in opened { try await open(view, on: stream) }
        return .done
    }

    private func open(_ view: JSONValue, on stream: String) async throws {
        let id = try Self.name(view["id"]?.stringValue ?? "", lengths: 1...40, of: "a view's id")
        switch view["kind"]?.stringValue {
        case "messages": try await openMessages(view, id, on: stream)
        case "happenings": try await hub.openHappenings(id, on: stream)
        case "device": try await openDevice(view, id, on: stream)
        case "processes": _ = try await hub.open(.init(processes: ChangedValues()), id: id, on: stream)
        default: throw RequestError.malformed("'kind' has to be device, happenings, messages or processes")
        }
    }

    private func openDevice(_ view: JSONValue, _ id: String, on stream: String) async throws {
        guard let platform = view["platform"]?.stringValue, !platform.isEmpty, platform.utf8.count <= 255 else {
            throw RequestError.malformed("a device needs a 'platform', such as ios")
        }
        let session = view["session"]?.stringValue ?? Session.default
        guard !session.isEmpty, session.utf8.count <= 255 else {
            throw RequestError.malformed("'session' has 1 to 255 bytes")
        }
        let identity = DeviceIdentity(
            platform: platform,
            device: try Self.name(view["device"]?.stringValue ?? "", lengths: 1...40, of: "a device's name"),
            subject: session, source: bus.source)
        let isResumed = view["resumed"]?.boolValue ?? false
        try await hub.openDevice(id, on: stream) { update in
            PageDevice(
                identity, screens: screens, isResumed: isResumed, isReadOnly: isReadOnly, bus: bus, logger: logger,
                clock: clock, update: update)
        }
    }

    func device(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let stream = try context.parameters.require("stream")
        let device = try await hub.device(try context.parameters.require("view"), on: stream)
        try await device.perform(try await request.jsonText())
        return .done
    }

    private func openMessages(_ view: JSONValue, _ id: String, on stream: String) async throws {
        let selection = try MessageSelection(page: view["selection"] ?? [:])
        let from = view["from"]?.stringValue ?? "now"
        guard ["now", "last"].contains(from) else { throw RequestError.malformed("'from' has to be now or last") }
        let opened = try await hub.open(
            .init(messages: MessagesView(selection, loadsHistory: from == "last")), id: id, on: stream)
        guard from == "last" else { return }
        do {
            // The end is read after the view has begun to collect live messages, so that none is missing in between.
            try await onBus {
                let end = try await bus.inspect.end()
                let page = try await archive.last(MessageArchive.pageLimit, selection, through: end)
                await hub.setHistory(of: opened, page.rows, end: end)
            }
        } catch {
            await hub.close(opened)
            throw error
        }
    }

    // MARK: Messages

    func messages(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let text = request.parameter("selection") ?? "{}"
        guard let json = try? JSONValue(parsing: Data(text.utf8)) else {
            throw RequestError.malformed("'selection' is not JSON")
        }
        let selection = try MessageSelection(page: json)
        let after = try Self.position(request, "after")
        let before = try Self.position(request, "before")
        let limit = request.parameter("limit").map { Int($0) ?? 0 } ?? MessageArchive.pageLimit
        guard (1...MessageArchive.pageLimit).contains(limit) else {
            throw RequestError.malformed("'limit' has to be a number from 1 to \(MessageArchive.pageLimit)")
        }
        let page = try await onBus {
            let end = try await bus.inspect.end()
            var last = end
            if let before {
                guard before.epoch == end.epoch else { return MessagePage() }
                last = Position(epoch: end.epoch, offset: min(end.offset, before.offset - min(before.offset, 1)))
            }
            guard let after else { return try await archive.last(limit, selection, through: last) }
            return try await archive.first(limit, selection, after: after, through: last)
        }
        return .json([
            "rows": .array(page.rows.map(\.json)), "more": .bool(page.hasMore),
            "next": page.next.map { .string($0.pageText) } ?? .null,
        ])
    }

    func message(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let text = try context.parameters.require("position")
        guard let position = Position(pageText: PercentEncoding.decode(text) ?? text) else {
            throw RequestError.malformed("'\(text)' is not a position such as 1a2b:17")
        }
        let isFull = request.parameter("full") == "1"
        let detail: MessageDetail? = try await onBus {
            guard let message = try await archive.message(at: position) else { return nil }
            return MessageDetail(message: message, before: try await archive.version(before: message), isFull: isFull)
        }
        guard let detail else { throw RequestError.notFound("the journal has no message at \(text)") }
        return .json(bytes: try detail.json())
    }

    /// A message that the journal does not have, by its id.
    func transient(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let id = try context.parameters.require("id")
        guard let message = await hub.transient(PercentEncoding.decode(id) ?? id) else {
            throw RequestError.notFound("this message is transient, and too old: the gateway does not have its data")
        }
        return .json(bytes: try MessageDetail(message: message, before: nil, isFull: true).json())
    }

    func story(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let id = try context.parameters.require("id")
        let story = try await onBus { try await archive.story(PercentEncoding.decode(id) ?? id) }
        guard !story.messages.isEmpty else { throw RequestError.notFound("the journal has no story '\(id)'") }
        return .json(story.json)
    }

    func types(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let known = try await onBus { try await KnownMessages(on: bus) }
        let figures = await hub.figures
        let types = known.types.sorted().compactMap { MessageType($0) }
        return .json([
            "types": .array(
                types.map { type in
                    [
                        "type": .string(type.description),
                        "schema": known.contract.messages[type]?.data?.json ?? .null,
                        "senders": .array(known.senders(of: type).map(JSONValue.string)),
                        "receivers": .array(known.receivers(of: type).map(JSONValue.string)),
                    ]
                }), "sessions": figures.sessionsJSON, "flows": figures.flowsJSON,
        ])
    }

    func publish(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let draft = try PageMessage(try await request.jsonText())
        let envelope = draft.envelope(source: bus.source)
        try await onBus {
            if draft.isChecked,
                let mistake = try await KnownMessages(on: bus).mistake(in: envelope.data, of: draft.type)
            {
                throw RequestError(
                    status: .badRequest, code: mistake.code.rawValue,
                    message: mistake.recovery.map { "\(mistake.message); \($0)" } ?? mistake.message)
            }
            try await bus.publish(Batch([envelope]))
        }
        return .json(["id": .string(envelope.id)])
    }

    // MARK: Dead letters

    /// A page of the dead letters after an id, oldest first. `more` is true if there may be others after it.
    func dead(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let after = request.parameter("after").map { Int64($0) ?? -1 } ?? 0
        guard after >= 0 else { throw RequestError.malformed("'after' has to be the id of a dead letter") }
        let deadLetters = try await onBus {
            try await bus.inspect.deadLetterSummaries(of: nil, after: after, limit: MessageArchive.pageLimit)
        }
        return .json([
            "letters": .array(
                deadLetters.map { deadLetter in
                    [
                        "id": .integer(Int(deadLetter.id)), "consumer": .string(deadLetter.consumer),
                        "position": deadLetter.message.position.map { .string($0.pageText) } ?? .null,
                        "failedAt": .string(Timestamp.text(of: deadLetter.time)),
                        "reason": .string(deadLetter.rejection.reason), "code": .string(deadLetter.rejection.code),
                        "attempts": .integer(deadLetter.rejection.attempts),
                        "row": MessageRow(deadLetter).json,
                    ]
                }),
            "more": .bool(try await hasDeadLetters(after: deadLetters.last?.id)),
        ])
    }

    private func hasDeadLetters(after id: DeadLetter.ID?) async throws -> Bool {
        guard let id else { return false }
        return try await onBus { try await !bus.inspect.deadLetterSummaries(of: nil, after: id, limit: 1).isEmpty }
    }

    func settle(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let body = try await request.object()
        guard let id = body["id"]?.integerValue.map(Int64.init), let action = body["action"]?.stringValue,
            ["resend", "drop"].contains(action)
        else { throw RequestError.malformed("'action' has to be resend or drop, with the 'id' of a dead letter") }
        let count = try await onBus {
            do {
                if action == "drop" {
                    guard try await bus.dropDeadLetters([id]).isEmpty else {
                        throw BusError(.deadLetter, "there is no dead letter \(id)")
                    }
                } else if let deadLetter = try await bus.inspect.deadLetter(id) {
                    _ = try await deadLetter.resend(on: bus)
                } else {
                    throw BusError(.deadLetter, "there is no dead letter \(id)")
                }
            } catch let error as UnsendableDeadLetter {
                throw RequestError.conflict(error.message)
            } catch let error as BusError where error.code == .deadLetter {
                throw RequestError.conflict("there is no dead letter \(id)")
            }
            // What was done is not undone if the letters cannot be counted.
            return try? await bus.inspect.deadLetterCount(of: nil)
        }
        if let count { await hub.setDeadLetters(count) }
        return .done
    }

    // MARK: The bus

    /// Performs an operation on the bus, for at most ``busTimeout``.
    /// - Throws: ``RequestError``, or another error of `operation` that is not the bus's.
    private func onBus<Result: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard await hub.isBusConnected else { throw RequestError.busAway }
        try turns.acquire()
        defer { turns.release() }
        do {
            return try await withTimeLimit(Self.busTimeout, clock: clock, orThrow: RequestError.busAway, operation)
        } catch let error as BusError {
            switch error.code {
            case .refused, .malformed: throw RequestError.malformed(error.message)
            case .epoch: throw RequestError.notFound(error.message)
            default: throw RequestError.busAway
            }
        }
    }

    private static func position(_ request: Request, _ name: String) throws(RequestError) -> Position? {
        guard let text = request.parameter(name) else { return nil }
        guard let position = Position(pageText: text) else {
            throw .malformed("'\(name)' is not a position such as 1a2b:17")
        }
        return position
    }

    /// Checks a name that the page has chosen.
    private static func name(
        _ text: String, lengths: ClosedRange<Int>, of object: String
    ) throws(RequestError) -> String {
        let isValid = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D
        }
        guard isValid, lengths.contains(text.utf8.count) else {
            throw .malformed(
                "\(object) has \(lengths.lowerBound) to \(lengths.upperBound) letters, digits and hyphens")
        }
        return text
    }
}

/// The requests that use the bus at the same time. Each of them may read a large part of the journal.
final class RequestPermits: Sendable {
    static let limit = 16

    private let acquired = Mutex(0)

    /// - Throws: ``RequestError`` if no turn is free.
    func acquire() throws(RequestError) {
        let isFree = acquired.withLock { acquired in
            guard acquired < Self.limit else { return false }
            acquired += 1
            return true
        }
        guard isFree else { throw .busy("\(Self.limit) requests are under way; try again in a moment") }
    }

    func release() {
        acquired.withLock { $0 -= 1 }
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = Self.known("Last-Event-ID")
}
