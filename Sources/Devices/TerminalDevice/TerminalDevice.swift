internal import AsyncAlgorithms
internal import Consuming
internal import Device
internal import EventBus
internal import Foundation
internal import Logging
internal import Navigation
internal import Opening
internal import ServiceLifecycle
internal import ServiceRuntime
internal import Support

/// A device in a terminal. It draws the screens of its platform, and publishes the messages of the person's choices.
/// When the device ends, its process ends.
struct TerminalDevice: ReadyService, ForegroundService {
    /// Signalled when the subscription is live.
    let ready = Latch()
    private let identity: DeviceIdentity
    private let bus: EventBus
    private let busAddress: String
    private let terminal: Terminal
    private let timeout: Duration
    private let flow: Flow?
    private let screens: AppScreens?
    private let opener: URLOpener?
    private let browser: URLOpener?
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - busAddress: The address of the bus, to be shown to a person.
    ///   - timeout: The maximum time that a line of a script waits. If a wait takes longer, the device fails.
    ///   - flow: The flow by which screens without a view model are drawn. Nil for the published flow.
    ///   - screens: The screens with view models. Nil if no screen has a view model.
    ///   - opener: Opens each URL that this device is requested to open. Nil if such URLs are only shown.
    ///   - browser: Opens a URL when a line is `o` and `opener` is nil. Nil if there is no such program.
    ///   - now: Returns the current time, for which positions are drawn.
    init(
        _ identity: DeviceIdentity, bus: EventBus, busAddress: String, terminal: Terminal,
        timeout: Duration = .seconds(30), flow: Flow? = nil, screens: AppScreens? = nil, opener: URLOpener? = nil,
        browser: URLOpener? = .preferred(), logger: Logger, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.identity = identity
        self.bus = bus
        self.busAddress = busAddress
        self.terminal = terminal
        self.timeout = timeout
        self.flow = flow
        self.screens = screens
        self.opener = opener
        self.browser = browser
        self.logger = logger
        self.clock = clock
        self.now = now
    }

    /// Runs until the input ends or a line is `q`.
    /// - Throws: ``DeviceFailure`` if a script cannot continue, `CancellationError`, and the errors of the bus.
    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await attend() }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // A request to shut down ends the device like `q`.
        }
    }

    private var connection: DeviceConnection { DeviceConnection(bus: bus, logger: logger, clock: clock) }

    /// Has one task for each source of inputs and one for the outbox, and starts a task for each query and each time
    /// that passes. All of them send their results to `inputs`, which the body handles one after the other.
    private func attend() async throws {
        let inputs = Inputs()
        let (demand, wantLine) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let outbox = DeviceOutbox()
        let delivered = Latch()
        let device = DeviceSession(
            identity, flow: flow, screens: screens, commandLifetime: EventBus.commandLifetime,
            keepsRequestedURL: terminal.mode == .scripted)
        let filters = device.filters
        var presenter = TerminalPresenter(
            session: TerminalSession(device, mode: terminal.mode, timeout: timeout), terminal: terminal, outbox: outbox,
            busAddress: busAddress, logger: logger, now: now)

        try await withThrowingDiscardingTaskGroup { tasks in
            tasks.addTask { await inputs.failing { try await follow(filters, into: inputs) } }
            tasks.addTask { await readLines(on: demand, into: inputs) }
            tasks.addTask { for await _ in terminal.resizes { await inputs.send(.resized) } }
            if let log = terminal.log {
                tasks.addTask { for await text in log.lines { await inputs.send(.logged(text)) } }
            }
            tasks.addTask {
                await deliver(outbox, inputs)
                delivered.open()
            }

            await presenter.start()
            wantLine.yield()
            session: for try await input in inputs {
                for request in try await presenter.handle(input) {
                    switch request {
                    case .line: wantLine.yield()
                    case .answer(let query):
                        tasks.addTask { await inputs.send(.answer(await connection.answer(to: query), to: query.id)) }
                    case .wake(let input, after: let time):
                        tasks.addTask {
                            guard (try? await clock.sleep(for: time)) != nil else { return }
                            await inputs.send(input)
                        }
                    case .end: break session
                    }
                }
            }

            // No more inputs are handled. Finishing the channel releases the tasks that wait to send an input.
            inputs.finish()
            outbox.finish()
            tasks.addTask {
                try? await clock.sleep(for: terminal.mode == .scripted ? timeout : .seconds(1))
                delivered.open()
            }
            try await delivered.waitUntilOpen()
            tasks.cancelAll()
        }
    }

    /// Publishes the messages of the outbox, in order, and opens its URLs, until the outbox is finished and empty.
    private func deliver(_ outbox: DeviceOutbox, _ inputs: Inputs) async {
        async let opening: Void = open(outbox.urls, inputs)
        await inputs.failing { for await message in outbox.messages { try await connection.publish(message) } }
        await opening
    }

    /// Opens the URLs of a script one after the other. For a person, up to four commands run at a time.
    private func open(_ urls: AsyncStream<DeviceOutbox.Opening>, _ inputs: Inputs) async {
        let limit = terminal.mode == .scripted ? 1 : 4
        await withTaskGroup(of: Void.self) { commands in
            var running = 0
            for await url in urls {
                if running == limit { await commands.next() } else { running += 1 }
                commands.addTask {
                    guard let reason = await open(url) else { return }
                    // The session of a script has often ended by now, so the reason is logged.
                    if terminal.mode == .scripted {
                        logger.warning("\(reason)")
                    } else {
                        await inputs.send(.notOpened(reason))
                    }
                }
            }
        }
    }

    /// Opens a URL.
    /// - Returns: The reason why the URL could not be opened. Nil if the URL was opened or must only be shown, or if
    ///   the device ends before the command of a person's URL.
    private func open(_ opening: DeviceOutbox.Opening) async -> String? {
        guard let command = opening.isByHand ? opener ?? browser : opener else {
            return opening.isByHand ? "No program to open URLs was found: copy the URL, or use --open COMMAND." : nil
        }
        return terminal.mode == .scripted ? await command.open(opening.url) : await command.launch(opening.url)
    }

    private func follow(_ filters: [MessageFilter], into inputs: Inputs) async throws {
        try await connection.follow(filters) {
            ready.open()
            await inputs.send(.attached)
        } receive: { message in
            await inputs.send(.message(message))
        }
    }

    /// Reads a line for each element of `demand`.
    private func readLines(on demand: AsyncStream<Void>, into inputs: Inputs) async {
        var lines = terminal.lines.makeAsyncIterator()
        for await _ in demand {
            guard let line = await lines.next() else { return await inputs.send(.endOfInput) }
            await inputs.send(line.map(TerminalSession.Input.line) ?? .unreadableLine)
        }
    }
}

private typealias Inputs = AsyncThrowingChannel<TerminalSession.Input, any Error>

extension AsyncThrowingChannel where Failure == any Error {
    /// Passes the errors of `operation` to the channel's reader.
    fileprivate func failing(_ operation: () async throws -> Void) async {
        do { try await operation() } catch { fail(error) }
    }
}

/// Passes inputs to a session, shows its outputs, and puts messages and URLs into the outbox.
private struct TerminalPresenter {
    /// Work that ends in an input, or the end of the session.
    enum Request {
        /// Read the next line.
        case line
        /// Get the answer to a query.
        case answer(to: Envelope)
        /// Send the input when the time has passed.
        case wake(TerminalSession.Input, after: Duration)
        case end
    }

    private var session: TerminalSession
    private let terminal: Terminal
    private let outbox: DeviceOutbox
    private let logger: Logger
    private let now: @Sendable () -> Date
    private var painter: Painter
    /// True from a request to wake with `second` until that input.
    private var isWaitingForSecond = false

    init(
        session: TerminalSession, terminal: Terminal, outbox: DeviceOutbox, busAddress: String, logger: Logger,
        now: @escaping @Sendable () -> Date
    ) {
        self.session = session
        self.terminal = terminal
        self.outbox = outbox
        self.logger = logger
        self.now = now
        painter = Painter(waiting: "Waiting for the bus at \(busAddress)…")
    }

    /// Draws the first screen.
    mutating func start() async {
        if terminal.size() != nil { await draw() }
    }

    /// Handles an input.
    /// - Throws: ``DeviceFailure`` if a script cannot continue; ``BusError`` if a message cannot be encoded as JSON.
    mutating func handle(_ input: TerminalSession.Input) async throws -> [Request] {
        if case .attached = input {
            painter.waiting = "Waiting for the navigation-coordinator of \(session.platform)…"
        }
        let screens = painter.hasNotes ? session.scene?.active.map(\.id) : nil
        let outputs = try session.handle(input)
        if case .line = input {
            painter.forgetDrawing()
            // At once: a later drawing of the whole screen would erase the next line that the person is typing.
            if terminal.size() != nil { await draw() }
        }
        if case .second = input { isWaitingForSecond = false }
        if painter.hasNotes, session.scene?.active.map(\.id) != screens {
            painter.removeNotes(exceptOf: input.story)
        }
        var requests: [Request] = []
        for output in outputs {
            if let request = try await carryOut(output, story: input.story) { requests.append(request) }
        }
        if !isWaitingForSecond, terminal.size() != nil, let wait = session.scene?.timeToNextSecond(at: now()) {
            isWaitingForSecond = true
            requests.append(.wake(.second, after: wait))
        }
        return requests
    }

    /// Carries out an output.
    /// - Parameter story: The correlation id of the message to which the output belongs. Nil if it belongs to none.
    /// - Returns: The request if the output is one.
    private mutating func carryOut(_ output: TerminalSession.Output, story: String?) async throws -> Request? {
        switch output {
        case .device(.draw): await draw()
        case .device(.say(let text)): await say(text, story: story)
        case .device(.refused(let text)): await say(text)
        case .device(.publish(let message)):
            if !outbox.send(message) { await say("Too many messages wait to be sent; the last is dropped.") }
        case .device(.ask(let query)): return .answer(to: query)
        case .device(.openURL(let url)):
            // On a terminal the URL stays below the scene as a link.
            if terminal.size() != nil, session.scene?.requestedURL != nil {
                await draw()
            } else {
                await say("Open \(url)")
            }
            await open(url)
        case .browse(let url): await open(url.text, isByHand: true)
        case .device(.answered): break
        case .device(.unreadable(let error)): logger.warning("a message was skipped: \(error)")
        // Scenes that are written one after the other do not move on.
        case .update: if terminal.size() != nil { await draw() }
        case .read: return .line
        case .startDeadline(let number): return .wake(.deadline(number), after: session.timeout)
        case .fail(let failure): throw failure
        case .end: return .end
        }
        return nil
    }

    private mutating func open(_ url: String, isByHand: Bool = false) async {
        if !outbox.open(url, isByHand: isByHand) { await say("Too many URLs wait to be opened; the last is dropped.") }
    }

    private mutating func draw() async {
        await write(painter.drawing(of: session.scene, size: terminal.size(), at: now()))
    }

    private mutating func say(_ text: String, story: String? = nil) async {
        await write(painter.addNote(text, of: story, on: session.scene, size: terminal.size(), at: now()))
    }

    private func write(_ text: TerminalText) async {
        if !text.isEmpty { await terminal.write(text) }
    }
}

extension TerminalSession.Input {
    /// The correlation id of the message. Nil for other inputs.
    fileprivate var story: String? {
        if case .message(let message) = self { message.attributes.correlationID } else { nil }
    }
}
