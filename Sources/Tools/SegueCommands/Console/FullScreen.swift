internal import Glibc
internal import Support
internal import SystemPackage
internal import SystemSupport

/// Shows a display in the whole terminal. The terminal's former content is restored when the display ends, and while
/// Ctrl-Z has stopped the program.
struct FullScreen {
    let output: Console
    var input = FileDescriptor.standardInput

    /// Runs `body` until it ends, a key ends the display, or the terminal is closed.
    /// - Parameters:
    ///   - isEnd: called with each key; returns true for a key that ends the display.
    ///   - redraw: draws the screen again when the program continues after Ctrl-Z, and when the terminal's size
    ///     changes.
    /// - Throws: the errors of `body` and `redraw`.
    func run(
        isEnd: @escaping @Sendable (KeyPress) async -> Bool, redraw: @escaping @Sendable () async throws -> Void,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let keys = TerminalKeys(input)
        let result: Result<Void, any Error>
        keys.enable()
        do {
            try await output.draw(TerminalCode.beginScreen)
            result = .success(
                try await withThrowingTaskGroup(of: Void.self) { group in
                    if isatty(input.rawValue) == 1 { group.addTask { try await readKeys(isEnd) } }
                    group.addTask { try await stopAndGoOn(keys, redraw) }
                    group.addTask {
                        for await _ in ShutdownSignals.arrivals(of: [SIGWINCH]) { try await redraw() }
                        try Task.checkCancellation()
                    }
                    group.addTask { try await body() }
                    defer { group.cancelAll() }
                    try await group.next()
                })
        } catch {
            result = .failure(error)
        }
        keys.restore()
        // A write to a terminal that was closed fails. This error is ignored.
        try? await output.draw(TerminalCode.endScreen)
        try result.get()
    }

    /// Restores the terminal at Ctrl-Z (SIGTSTP) and stops this process. Sets the terminal up again at SIGCONT.
    ///
    /// SIGSTOP cannot be handled and does not restore the terminal.
    private func stopAndGoOn(_ keys: TerminalKeys, _ redraw: () async throws -> Void) async throws {
        for await signal in ShutdownSignals.arrivals(of: [SIGTSTP, SIGCONT]) {
            // The console writes nothing while the action runs.
            output.perform { [descriptor = output.descriptor] in
                if signal == SIGTSTP {
                    keys.restore()
                    _ = try? descriptor.writeAll(TerminalCode.endScreen.utf8)
                    Self.stop()
                }
                keys.enable()
                _ = try? descriptor.writeAll(TerminalCode.beginScreen.utf8)
            }
            try await redraw()
        }
        try Task.checkCancellation()
    }

    /// Stops this process as Ctrl-Z does by default, and returns when the process continues. The system ignores the
    /// signal in an orphaned process group.
    private static func stop() {
        var (watching, standard) = (sigaction(), sigaction())
        standard.__sigaction_handler.sa_handler = SIG_DFL
        sigaction(SIGTSTP, &standard, &watching)
        // SIGTSTP is blocked while a task watches for it. Unblocked, it takes effect before `raise` returns.
        var (signals, blocked) = (sigset_t(), sigset_t())
        sigemptyset(&signals)
        sigaddset(&signals, SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &signals, &blocked)
        raise(SIGTSTP)
        pthread_sigmask(SIG_SETMASK, &blocked, nil)
        sigaction(SIGTSTP, &watching, nil)
    }

    /// Reads keys until one of them ends the display, the terminal is closed, or the task is cancelled.
    private func readKeys(_ isEnd: (KeyPress) async -> Bool) async throws {
        while try await input.wait(for: POLLIN) {
            let text = try withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { bytes in
                String(decoding: bytes.prefix(try input.read(into: bytes)), as: UTF8.self)
            }
            if text.isEmpty { return }
            for key in KeyPress.keys(in: text) where await isEnd(key) { return }
        }
    }
}

/// Switches the terminal to input key by key, and back.
struct TerminalKeys: Sendable {
    private let input: FileDescriptor
    /// The terminal's former settings. Nil if the input is not a terminal.
    private let settings: termios?

    init(_ input: FileDescriptor) {
        self.input = input
        var settings = termios()
        self.settings = tcgetattr(input.rawValue, &settings) == 0 ? settings : nil
    }

    /// Makes the terminal deliver each key at once, without echo. Ctrl-C still sends a signal.
    func enable() {
        guard var settings else { return }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // TCSANOW keeps the keys that were typed ahead.
        tcsetattr(input.rawValue, TCSANOW, &settings)
    }

    /// Restores the former settings.
    func restore() {
        guard var settings else { return }
        tcsetattr(input.rawValue, TCSANOW, &settings)
    }
}

/// Control sequences for a terminal, as ECMA-48 and xterm define them.
enum TerminalCode {
    static let home: TerminalText = "\u{1B}[H"
    static let clearLine: TerminalText = "\u{1B}[K"
    /// Returns to the start of the line and clears it.
    static let beginLine: TerminalText = "\r" + clearLine
    static let clearBelow: TerminalText = "\u{1B}[J"
    static let beginScreen: TerminalText = "\u{1B}[?1049h\u{1B}[?25l"
    static let endScreen: TerminalText = "\u{1B}[?25h\u{1B}[?1049l"

    static func up(_ lines: Int) -> TerminalText { "\u{1B}[\(lines)A" }
}
