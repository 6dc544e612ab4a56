internal import AsyncAlgorithms
internal import Consuming
internal import Device
internal import EventBus
internal import Logging
internal import Navigation
internal import ServiceLifecycle
internal import ServiceRuntime

/// A device in a terminal: draws its platform's screen, and sends what is picked on it. Its end is the end of its
/// process.
struct TerminalDevice: ReadyService, ForegroundService {
    /// Signalled when its subscription is live.
    let ready = ReadySignal()
    private let identity: DeviceIdentity
    private let bus: any EventBus
    private let busAddress: String
    private let terminal: Terminal
    private let timeout: Duration
    private let flow: Flow?
    private let screens: AppScreens?
    private let opener: URLOpener?
    private let browser: URLOpener?
    private let logger: Logger
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - busAddress: where the bus is, for people to read.
    ///   - timeout: how long a script's line may wait.
    ///   - flow: what is said of screens without a view model, if it is known.
    ///   - screens: those that the app draws itself.
    ///   - opener: opens the URLs that are requested for this device; nil: they are only shown.
    ///   - browser: opens those that the person asks for when there is no opener; nil: the person is told what to do.
    init(
        _ identity: DeviceIdentity, bus: any EventBus, busAddress: String, terminal: Terminal,
        timeout: Duration = .seconds(30), flow: Flow? = nil, screens: AppScreens? = nil, opener: URLOpener? = nil,
        browser: URLOpener? = .preferred(), logger: Logger, clock: any Clock<Duration> = ContinuousClock()
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
    }

    /// Runs until the input ends or its writer quits.
    /// - Throws: ``DeviceFailure`` when a script cannot go on, `CancellationError`, or what the bus throws.
    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await attend() }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // Asked to stop: as good as quitting.
        }
    }

    private func attend() async throws {
        let inputs = AsyncThrowingChannel<TerminalSession.Input, any Error>()
        let (demand, wantLine) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let device = DeviceSession(
            identity, flow: flow, screens: screens, commandLifetime: type(of: bus).commandLifetime,
            keepsRequestedURL: terminal.mode == .scripted)
        let session = TerminalSession(device, mode: terminal.mode, timeout: timeout)
        let filters = device.filters
        try await withThrowingDiscardingTaskGroup { sources in
            sources.addTask { await inputs.failing { try await follow(filters, into: inputs) } }
            sources.addTask { await readLines(on: demand, into: inputs) }
            sources.addTask { for await _ in terminal.resizes { await inputs.send(.resized) } }
            try await withOutbox(inputs) { outbox in
                var loop = DeviceLoop(
                    session: session, terminal: terminal, outbox: outbox, busAddress: busAddress, logger: logger)
                try await loop.run(
                    inputs, wantLine: { wantLine.yield() },
                    startDeadline: { number in
                        sources.addTask {
                            guard (try? await clock.sleep(for: timeout)) != nil else { return }
                            await inputs.send(.deadline(number))
                        }
                    })
            }
            sources.cancelAll()
        }
    }

    /// Sends and opens what `body` wants sent and opened, one after the other. What is left when it has ended is still
    /// done, but a bus that is away, or a command that does not end, cannot hold the end up for long.
    private func withOutbox(
        _ inputs: AsyncThrowingChannel<TerminalSession.Input, any Error>, _ body: (DeviceOutbox) async throws -> Void
    ) async throws {
        let outbox = DeviceOutbox()
        try await withThrowingTaskGroup(of: Bool.self) { workers in
            workers.addTask {
                await inputs.failing { for await message in outbox.messages { try await publish(message) } }
                return true
            }
            workers.addTask {
                await open(outbox.urls, inputs)
                return true
            }
            try await body(outbox)
            // Nobody takes inputs any more, and nobody must wait for that.
            inputs.finish()
            outbox.finish()
            workers.addTask {
                try? await clock.sleep(for: terminal.mode == .scripted ? timeout : .seconds(1))
                return false
            }
            var workersLeft = 2
            while workersLeft > 0, try await workers.next() == true { workersLeft -= 1 }
            workers.cancelAll()
        }
    }

    /// A script's URLs are opened one after the other. A person's browser may run until it is closed; the next URL
    /// waits only when four of them run.
    private func open(
        _ urls: AsyncStream<DeviceOutbox.Opening>, _ inputs: AsyncThrowingChannel<TerminalSession.Input, any Error>
    ) async {
        let limit = terminal.mode == .scripted ? 1 : 4
        await withTaskGroup(of: Void.self) { commands in
            var running = 0
            for await url in urls {
                if running == limit { await commands.next() } else { running += 1 }
                commands.addTask {
                    guard let reason = await open(url) else { return }
                    // A script has often ended by now: its log is the place that is still there.
                    if terminal.mode == .scripted {
                        logger.warning("\(reason)")
                    } else {
                        await inputs.send(.notOpened(reason))
                    }
                }
            }
        }
    }

    /// - Returns: why it could not be opened.
    private func open(_ opening: DeviceOutbox.Opening) async -> String? {
        guard let command = opening.isByHand ? opener ?? browser : opener else {
            return opening.isByHand ? "Nothing here opens URLs: copy it, or name a command with --open." : nil
        }
        return terminal.mode == .scripted ? await command.open(opening.url) : await command.launch(opening.url)
    }

    private func publish(_ message: Envelope) async throws {
        do {
            try await BusRetry(logger: logger, clock: clock).run { _ = try await bus.publish(Batch([message])) }
        } catch let error as BusError where error.code == .refused {
            logger.warning("not sent: \(error)", metadata: ["type": "\(message.type)"])
        }
    }

    private func follow(
        _ filters: [MessageFilter], into inputs: AsyncThrowingChannel<TerminalSession.Input, any Error>
    ) async throws {
        try await BusRetry(logger: logger, clock: clock).run {
            try await bus.withSubscription(to: filters, from: .retained) { messages in
                ready.signal()
                await inputs.send(.attached)
                for try await message in messages { await inputs.send(.message(message)) }
            }
        }
    }

    /// Reads a line when one is wanted.
    private func readLines(
        on demand: AsyncStream<Void>, into inputs: AsyncThrowingChannel<TerminalSession.Input, any Error>
    ) async {
        var lines = terminal.lines.makeAsyncIterator()
        for await _ in demand {
            guard let line = await lines.next() else { return await inputs.send(.endOfInput) }
            await inputs.send(.line(line))
        }
    }
}

extension AsyncThrowingChannel where Failure == any Error {
    /// Lets the channel's reader throw what `operation` throws.
    fileprivate func failing(_ operation: () async throws -> Void) async {
        do { try await operation() } catch { fail(error) }
    }
}

/// Hands a session its inputs, one after the other, and does what it asks for.
struct DeviceLoop {
    private var session: TerminalSession
    private let terminal: Terminal
    private let outbox: DeviceOutbox
    private let logger: Logger
    private var painter: Painter

    init(session: TerminalSession, terminal: Terminal, outbox: DeviceOutbox, busAddress: String, logger: Logger) {
        self.session = session
        self.terminal = terminal
        self.outbox = outbox
        self.logger = logger
        painter = Painter(waiting: "Waiting for the bus at \(busAddress)…")
    }

    /// Returns when the session has ended.
    mutating func run(
        _ inputs: AsyncThrowingChannel<TerminalSession.Input, any Error>,
        wantLine: () -> Void, startDeadline: (Int) -> Void
    ) async throws {
        wantLine()
        if terminal.size() != nil { await draw() }
        for try await input in inputs {
            if case .attached = input {
                painter.waiting = "Waiting for a navigation-coordinator to say where \(session.platform) is…"
            }
            for output in try session.handle(input) {
                switch output {
                case .device(.draw): await draw()
                case .device(.say(let text)): await say(text)
                case .device(.publish(let message)):
                    if !outbox.send(message) { await say("Too much waits to be sent; this is not.") }
                case .device(.openURL(let url)):
                    // On a terminal it stays below the screen, as a link.
                    if terminal.size() != nil, session.scene?.requestedURL != nil {
                        await draw()
                    } else {
                        await say("Open \(url)")
                    }
                    await open(url)
                case .browse(let url): await open(url.text, isByHand: true)
                case .device(.answered): break
                case .device(.unreadable(let error)): logger.warning("skipped: \(error)")
                case .read: wantLine()
                case .startDeadline(let number): startDeadline(number)
                case .fail(let failure): throw failure
                case .end: return
                }
            }
        }
    }

    private mutating func open(_ url: String, isByHand: Bool = false) async {
        if !outbox.open(url, isByHand: isByHand) { await say("Too much waits to be opened; this is not.") }
    }

    private mutating func draw() async {
        await write(painter.drawing(of: session.scene, size: terminal.size()))
    }

    private mutating func say(_ text: String) async {
        await write(painter.note(text, on: session.scene, size: terminal.size()))
    }

    private func write(_ text: String) async {
        if !text.isEmpty { await terminal.write(text) }
    }
}

/// What a device wants done, in order.
struct DeviceOutbox: Sendable {
    struct Opening: Sendable {
        let url: String
        /// Whether the person has asked for it, not a message.
        let isByHand: Bool
    }

    /// Many more than a person can pick while the bus is away.
    private static let limit = 256

    let messages: AsyncStream<Envelope>
    let urls: AsyncStream<Opening>
    private let sending: AsyncStream<Envelope>.Continuation
    private let opening: AsyncStream<Opening>.Continuation

    init() {
        (messages, sending) = AsyncStream.makeStream(of: Envelope.self, bufferingPolicy: .bufferingOldest(Self.limit))
        (urls, opening) = AsyncStream.makeStream(of: Opening.self, bufferingPolicy: .bufferingOldest(Self.limit))
    }

    /// - Returns: whether there was room.
    func send(_ message: Envelope) -> Bool {
        if case .enqueued = sending.yield(message) { true } else { false }
    }

    /// - Returns: whether there was room.
    func open(_ url: String, isByHand: Bool = false) -> Bool {
        if case .enqueued = opening.yield(Opening(url: url, isByHand: isByHand)) { true } else { false }
    }

    /// Nothing more comes.
    func finish() {
        sending.finish()
        opening.finish()
    }
}
