internal import Glibc
internal import SystemPackage
internal import SystemSupport

/// The terminal as a screen of its own, which is as it was before when this ends, and while the program is stopped.
struct FullScreen {
    let output: Console
    var input = FileDescriptor.standardInput

    /// Runs `body` until it ends or somebody presses `q`.
    /// - Parameter redraw: draws again what is lost when the program goes on after Ctrl-Z.
    /// - Throws: what `body` throws.
    func run(
        redraw: @escaping @Sendable () async throws -> Void, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let keys = TerminalKeys(input)
        let result: Result<Void, any Error>
        keys.take()
        do {
            try await output.write(TerminalCode.beginScreen)
            result = .success(
                try await withThrowingTaskGroup(of: Void.self) { group in
                    if isatty(input.rawValue) == 1 { group.addTask { try await waitForKey("q") } }
                    group.addTask { try await stopAndGoOn(keys, redraw) }
                    group.addTask { try await body() }
                    defer { group.cancelAll() }
                    try await group.next()
                })
        } catch {
            result = .failure(error)
        }
        keys.giveBack()
        // A terminal that is gone needs nothing back.
        try? await output.write(TerminalCode.endScreen)
        try result.get()
    }

    /// Stops at Ctrl-Z, with the terminal as the shell knows it. Stopped otherwise it cannot leave the screen first, but
    /// whatever was written there meanwhile is gone when it goes on.
    private func stopAndGoOn(_ keys: TerminalKeys, _ redraw: () async throws -> Void) async throws {
        for await signal in ShutdownSignals.arrivals(of: [SIGTSTP, SIGCONT]) {
            // On the thread that writes, so that nothing is drawn into the shell's screen.
            output.perform { [descriptor = output.descriptor] in
                if signal == SIGTSTP {
                    keys.giveBack()
                    _ = try? descriptor.writeAll(TerminalCode.endScreen.utf8)
                    Self.stop()
                }
                keys.take()
                _ = try? descriptor.writeAll(TerminalCode.beginScreen.utf8)
            }
            try await redraw()
        }
        // Only the end of the others ends it.
        try Task.checkCancellation()
    }

    /// Stops this process, as Ctrl-Z would if nobody watched for it: not at all where no shell could have it go on. Returns
    /// when it goes on.
    private static func stop() {
        var (watching, standard) = (sigaction(), sigaction())
        standard.__sigaction_handler.sa_handler = SIG_DFL
        sigaction(SIGTSTP, &standard, &watching)
        // Whoever watches for a signal has threads block it; raised in one that does not, it takes effect before it returns.
        var (signals, blocked) = (sigset_t(), sigset_t())
        sigemptyset(&signals)
        sigaddset(&signals, SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &signals, &blocked)
        raise(SIGTSTP)
        pthread_sigmask(SIG_SETMASK, &blocked, nil)
        sigaction(SIGTSTP, &watching, nil)
    }

    /// Returns as well when the terminal is gone, or the task cancelled.
    private func waitForKey(_ key: Character) async throws {
        while try await input.wait(for: POLLIN) {
            let keys = try withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
                String(decoding: bytes.prefix(try input.read(into: bytes)), as: UTF8.self)
            }
            if keys.isEmpty || keys.contains(key) { return }
        }
    }
}

/// A terminal's keyboard, to be had key by key.
struct TerminalKeys: Sendable {
    private let input: FileDescriptor
    /// How the terminal was before; nil when the input is none.
    private let settings: termios?

    init(_ input: FileDescriptor) {
        self.input = input
        var settings = termios()
        self.settings = tcgetattr(input.rawValue, &settings) == 0 ? settings : nil
    }

    /// Has the terminal give each key at once, and not show it; signals still come of Ctrl-C.
    func take() {
        guard var settings else { return }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // What was typed ahead stays.
        tcsetattr(input.rawValue, TCSANOW, &settings)
    }

    func giveBack() {
        guard var settings else { return }
        tcsetattr(input.rawValue, TCSANOW, &settings)
    }
}

/// What a terminal obeys: ECMA-48, and of xterm the alternate screen.
enum TerminalCode {
    static let home = "\u{1B}[H"
    static let clearLine = "\u{1B}[K"
    /// To begin the line anew.
    static let beginLine = "\r" + clearLine
    static let clearBelow = "\u{1B}[J"
    static let beginScreen = "\u{1B}[?1049h\u{1B}[?25l"
    static let endScreen = "\u{1B}[?25h\u{1B}[?1049l"

    static func up(_ lines: Int) -> String { "\u{1B}[\(lines)A" }
}
