internal import Contracts
internal import Device
internal import EventBus
internal import Foundation
internal import Logging
internal import Support
internal import WebPage

/// A device on the page: a session with a subscription of its own.
actor PageDevice {
    /// The minimum time between two encodings of the scene.
    private static let interval: Duration = .milliseconds(16)

    private var session: DeviceSession
    private var isAttached = false
    private let isReadOnly: Bool
    private let connection: DeviceConnection
    private let outbox = DeviceOutbox()
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let update: @Sendable (@Sendable (inout DeviceUpdates) -> Void) async -> Void
    /// Yields an element when the scene may have changed.
    private let changes: AsyncStream<Void>
    private let changing: AsyncStream<Void>.Continuation
    private let end = Latch()
    /// The queries that the session asks. If too many wait, further ones are not asked.
    private let (queries, asking) = AsyncStream.makeStream(of: Envelope.self, bufferingPolicy: .bufferingOldest(16))
    private var noteCount = 0
    /// The number of requests to open a URL. The updates of such a request and of a scene may change their order on
    /// their way.
    private var requestCount = 0
    /// Distinguishes the notes of this device from those that the same device had before a restart of the gateway.
    private let run = String(UInt32.random(in: .min ... .max), radix: 36)

    /// - Parameters:
    ///   - isResumed: True if the device continues after an interruption.
    ///   - update: Changes what the page is to be sent.
    init(
        _ identity: DeviceIdentity, screens: AppScreens?, isResumed: Bool, isReadOnly: Bool, bus: EventBus,
        logger: Logger, clock: any Clock<Duration>,
        update: @escaping @Sendable (@Sendable (inout DeviceUpdates) -> Void) async -> Void
    ) {
        session = DeviceSession(
            identity, screens: screens, commandLifetime: EventBus.commandLifetime, isAnimated: true,
            beginsSession: !isResumed && !isReadOnly)
        self.isReadOnly = isReadOnly
        connection = DeviceConnection(bus: bus, logger: logger, clock: clock)
        self.logger = logger
        self.clock = clock
        self.update = update
        (changes, changing) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Runs until ``stop()`` is called. The messages that still wait are then published.
    func run() async {
        let (filters, outbox, connection, logger) = (session.filters, outbox, connection, logger)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                do {
                    try await connection.follow(filters) {
                        try await attach()
                    } receive: {
                        try await handle($0)
                    }
                } catch is CancellationError {
                } catch {
                    logger.error("a device of the page has ended: \(error)")
                }
            }
            group.addTask { [self] in try? await drawChanges() }
            group.addTask { [self] in
                for await query in queries {
                    let answer = await connection.answer(to: query)
                    try? await carryOut(handle(.answer(answer, to: query.id)), request: query.id)
                }
            }
            await end.waitUntilOpenOrCancelled()
            group.cancelAll()
        }
        outbox.finish()
    }

    /// Publishes the messages of the device, in order, until ``run()`` has ended.
    func publish() async {
        for await message in outbox.messages {
            do { try await connection.publish(message) } catch { return }
        }
    }

    nonisolated func stop() {
        end.open()
    }

    // MARK: From the bus

    private func attach() async throws {
        // After an interruption the subscription begins again; the launch is reported once.
        guard !isAttached else { return }
        isAttached = true
        try await carryOut(try session.handle(.attached), request: "")
        changing.yield()
    }

    private func handle(_ message: Envelope) async throws {
        if message.type == Document.NavigationState.type, message.attributes.key == session.identity.platform {
            let cause = message.attributes.causationID ?? message.id
            await update { $0.pulse(cause) }
        }
        try await carryOut(try session.handle(.message(message)), request: message.id)
    }

    private func carryOut(_ outputs: [DeviceSession.Output], request: String) async throws {
        for output in outputs {
            switch output {
            case .draw: changing.yield()
            case .say(let text): await addNote(text)
            case .refused(let text): throw RequestError.malformed(text)
            case .publish(let message): send(message)
            case .ask(let query): asking.yield(query)
            case .openURL(let url):
                if let url = session.scene?.requestedURL?.text {
                    requestCount += 1
                    let number = requestCount
                    await update { $0.openURL(url, request: request, number: number) }
                } else {
                    await addNote("This address cannot be opened here: \(url.prefix(200))")
                }
            case .answered: break
            case .unreadable(let error): logger.warning("a message was skipped: \(error)")
            }
        }
    }

    private func handle(_ input: DeviceSession.Input) throws -> [DeviceSession.Output] {
        try session.handle(input)
    }

    private func addNote(_ text: String) async {
        noteCount += 1
        let id = "\(session.identity.device)-\(run)-\(noteCount)"
        await update { $0.addNote(text, id: id) }
    }

    private func send(_ message: Envelope) {
        if isReadOnly { return }
        if !outbox.send(message) { logger.warning("too many messages of a device wait to be sent; one was dropped") }
    }

    /// Encodes the scene when it may have changed. Changes that follow each other closely are encoded together.
    private func drawChanges() async throws {
        for await _ in changes {
            do {
                let text = try session.scene.map { try SceneText(session, $0) }
                let request = requestCount
                await update { $0.show(text, afterRequest: request) }
            } catch {
                logger.warning("a scene was skipped: \(error)")
                await addNote("The screens are out of date: their state cannot be written as JSON")
            }
            try await clock.sleep(for: Self.interval)
        }
    }

    // MARK: From the page

    /// Carries out a request of the page.
    /// - Throws: ``RequestError`` if the request is malformed, or if it is no longer possible.
    func perform(_ text: JSONText) async throws {
        let request = try JSONValue(parsing: Data(text.utf8))
        if let id = request["choose"]?.stringValue { return try await choose(id, text["fields"]) }
        var reports: [DeviceSession.Report] = []
        if let revision = request["displayed"]?.countValue { reports.append(.displayed(revision: revision)) }
        for instance in request["gone"]?.arrayValue ?? [] {
            if let instance = instance.stringValue { reports.append(.gone(instance: instance)) }
        }
        if let instance = request["instance"]?.stringValue {
            switch request["back"]?.stringValue {
            case "started": reports.append(.backStarted(instance: instance))
            case "cancelled": reports.append(.backCancelled(instance: instance))
            case "completed": reports.append(.backCompleted(instance: instance))
            default: break
            }
            if let tab = request["tab"]?.stringValue { reports.append(.tabSelected(instance: instance, tab: tab)) }
        }
        if let instance = request["dismissed"]?.stringValue { reports.append(.dismissed(instance: instance)) }
        guard !reports.isEmpty else {
            throw RequestError.malformed("the request needs choose, displayed, gone, back, dismissed or tab")
        }
        for report in reports {
            if isReadOnly, report.isByPerson { throw RequestError.readOnly }
            try await carryOut(try session.handle(.report(report)), request: "")
        }
    }

    private func choose(_ id: String, _ fields: JSONText?) async throws {
        if isReadOnly { throw RequestError.readOnly }
        // A view that was opened a moment ago, such as after a restart of the gateway, has no scene yet.
        guard let scene = session.scene else { throw RequestError.notFound("this device shows no screen yet") }
        guard let choice = scene.choice(id) else {
            throw RequestError.conflict("this choice is no longer on the screen")
        }
        guard fields?.isObject ?? true else { throw RequestError.malformed("'fields' is not a JSON object") }
        let filled = fields.map { choice.filled(with: $0) } ?? choice
        try await carryOut(try session.handle(.choice(filled)), request: "")
        changing.yield()
    }
}

extension DeviceSession.Report {
    /// False for a report about what is displayed.
    fileprivate var isByPerson: Bool {
        switch self {
        case .displayed, .gone: false
        default: true
        }
    }
}

extension Scene {
    /// The choice with this id. Nil if it is not on the scene.
    fileprivate func choice(_ id: String) -> Choice? {
        let all = screens.flatMap(\.choices) + choices + [bannerDismissal, back, dismissal].compactMap(\.self)
        return all.first { $0.id == id }
    }
}
