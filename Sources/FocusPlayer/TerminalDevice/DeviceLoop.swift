internal import AsyncAlgorithms
internal import EventBus
internal import Logging

/// Hands a session its inputs, one after the other, and does what it asks for.
struct DeviceLoop {
    private var session: DeviceSession
    private let terminal: Terminal
    private let outbox: Outbox
    private let logger: Logger
    private var painter: Painter

    init(session: DeviceSession, terminal: Terminal, outbox: Outbox, busAddress: String, logger: Logger) {
        self.session = session
        self.terminal = terminal
        self.outbox = outbox
        self.logger = logger
        painter = Painter(waiting: "Waiting for the bus at \(busAddress)…")
    }

    /// Returns when the session has ended.
    mutating func run(
        _ inputs: AsyncThrowingChannel<DeviceSession.Input, any Error>,
        wantLine: () -> Void, startDeadline: (Int) -> Void
    ) async throws {
        wantLine()
        if terminal.size() != nil { await draw() }
        for try await input in inputs {
            if case .attached = input {
                painter.waiting = "Waiting for a navigation-coordinator to say where \(session.identity.platform) is…"
            }
            for output in try session.handle(input) {
                switch output {
                case .draw: await draw()
                case .say(let text): await say(text)
                case .publish(let message):
                    if !outbox.send(message) { await say("Too much waits to be sent; this is not.") }
                case .openURL(let url):
                    // On a terminal it stays below the screen, as a link.
                    if terminal.size() != nil, session.requestedURL != nil {
                        await draw()
                    } else {
                        await say("Open \(url)")
                    }
                    await open(url)
                case .browse(let url): await open(url.text, isByHand: true)
                case .unreadable(let error): logger.warning("skipped: \(error)")
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
        await write(painter.drawing(of: session.screen, url: session.requestedURL, size: terminal.size()))
    }

    private mutating func say(_ text: String) async {
        await write(painter.note(text, on: session.screen, url: session.requestedURL, size: terminal.size()))
    }

    private func write(_ text: String) async {
        if !text.isEmpty { await terminal.write(text) }
    }
}
