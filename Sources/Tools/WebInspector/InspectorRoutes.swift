internal import AppContract
internal import Contracts
internal import EventBus
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Monitor
internal import SignIn
internal import Support
internal import WebPage

/// The answers of the inspector.
struct InspectorRoutes: Sendable {
    private let bus: EventBus
    private let hub: Hub
    /// The version of the gateway.
    private let version: String
    private let metricsRequests: MetricsRequests
    private let observer: BusObserver
    private let archive: MessageArchive
    private let busRequests: BusRequests

    init(_ environment: PageEnvironment, metrics: MetricsRequests, observer: BusObserver) {
        (bus, hub, version) = (environment.bus, environment.hub, environment.version)
        metricsRequests = metrics
        self.observer = observer
        archive = MessageArchive(bus: bus)
        busRequests = BusRequests(hub: hub, clock: environment.clock)
    }

    func add(to groups: PageRoutes) {
        groups.programs.read("metrics", use: metrics)
        groups.everybody.read("flows", use: flows)
        groups.operators.read("messages", use: messages)
            .read("messages/:position", use: message)
            .read("transient/:id", use: transient)
            .read("story/:id", use: story)
            .read("types", use: types)
            .read("dead", use: dead)
        groups.publishing.post("messages", use: publish)
            .post("dead", use: settle)
    }

    private func metrics(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let isConnected = await hub.isBusConnected
        let instances = isConnected ? await observer.figures.instances : []
        let reports = (try? await metricsRequests.ask(instances)) ?? [:]
        let metrics = await observer.metrics(
            reports, streams: hub.streamCount, isConnected: hub.isBusConnected, version: version)
        return Response(
            status: .ok, headers: [.contentType: Metrics.type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text)))
    }

    // MARK: Messages

    /// Opens a view of messages.
    func openMessages(_ view: ViewRequest) async throws {
        let selection = try MessageSelection(page: view["selection"] ?? [:])
        let from = view["from"]?.stringValue ?? "now"
        guard ["now", "last"].contains(from) else { throw RequestError.malformed("'from' has to be now or last") }
        let opened = await observer.makeMessagesView(selection, loadsHistory: from == "last")
        try await hub.open(opened, as: view.name)
        guard from == "last" else { return }
        do {
            // The end is read after the view has begun to collect live messages, so that none is missing in between.
            try await busRequests.perform {
                let end = try await bus.inspect.end()
                let page = try await archive.last(MessageArchive.pageLimit, selection, through: end)
                opened.change { $0.setHistory(page.rows, end: end) }
            }
        } catch {
            await hub.close(opened, named: view.name)
            throw error
        }
    }

    private func messages(_ request: Request, _ context: GatewayContext) async throws -> Response {
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
        let page = try await busRequests.perform {
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

    private func message(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let text = try context.parameters.require("position")
        guard let position = Position(pageText: PercentEncoding.decode(text) ?? text) else {
            throw RequestError.malformed("'\(text)' is not a position such as 1a2b:17")
        }
        let isFull = request.parameter("full") == "1"
        let detail: MessageDetail? = try await busRequests.perform {
            guard let message = try await archive.message(at: position) else { return nil }
            return MessageDetail(message: message, before: try await archive.version(before: message), isFull: isFull)
        }
        guard let detail else { throw RequestError.notFound("the journal has no message at \(text)") }
        return .json(bytes: try detail.json())
    }

    /// A message that the journal does not have, by its id.
    private func transient(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let id = try context.parameters.require("id")
        guard let message = await observer.transient(PercentEncoding.decode(id) ?? id) else {
            throw RequestError.notFound("this message is transient, and too old: the gateway does not have its data")
        }
        return .json(bytes: try MessageDetail(message: message, before: nil, isFull: true).json())
    }

    private func story(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let id = try context.parameters.require("id")
        let story = try await busRequests.perform { try await archive.story(PercentEncoding.decode(id) ?? id) }
        guard !story.messages.isEmpty else { throw RequestError.notFound("the journal has no story '\(id)'") }
        return .json(story.json)
    }

    private func types(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let known = try await busRequests.perform { try await KnownMessages(on: bus) }
        let figures = await observer.figures
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

    /// The flows of the app, which are the same for everybody, and the sessions that the browser may use.
    private func flows(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let figures = await observer.figures
        let own = try context.signedIn().session
        return .json([
            "flows": figures.flowsJSON, "sessions": own.map { [.string($0)] } ?? figures.sessionsJSON,
        ])
    }

    private func publish(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let draft = try PageMessage(try await request.jsonText())
        let envelope = draft.envelope(source: bus.source)
        try await busRequests.perform {
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
    private func dead(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let after = request.parameter("after").map { Int64($0) ?? -1 } ?? 0
        guard after >= 0 else { throw RequestError.malformed("'after' has to be the id of a dead letter") }
        let deadLetters = try await busRequests.perform {
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
        return try await busRequests.perform {
            try await !bus.inspect.deadLetterSummaries(of: nil, after: id, limit: 1).isEmpty
        }
    }

    private func settle(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let body = try await request.object()
        guard let id = body["id"]?.integerValue.map(Int64.init), let action = body["action"]?.stringValue,
            ["resend", "drop"].contains(action)
        else { throw RequestError.malformed("'action' has to be resend or drop, with the 'id' of a dead letter") }
        let count = try await busRequests.perform {
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
        if let count { await observer.setDeadLetters(count) }
        return .done
    }

    private static func position(_ request: Request, _ name: String) throws(RequestError) -> Position? {
        guard let text = request.parameter(name) else { return nil }
        guard let position = Position(pageText: text) else {
            throw .malformed("'\(name)' is not a position such as 1a2b:17")
        }
        return position
    }
}
