internal import Glibc
internal import SystemPackage

/// The terminal as a screen of its own, which is as it was before when this ends.
struct FullScreen {
    let output: Console
    var input = FileDescriptor.standardInput

    /// Runs `body` until it ends or somebody presses `q`.
    /// - Throws: what `body` throws.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let settings = takeKeys()
        let result: Result<Void, any Error>
        do {
            try await output.write(TerminalCode.beginScreen)
            result = .success(try await untilKey("q", body))
        } catch {
            result = .failure(error)
        }
        if var settings { tcsetattr(input.rawValue, TCSANOW, &settings) }
        // A terminal that is gone needs nothing back.
        try? await output.write(TerminalCode.endScreen)
        try result.get()
    }

    /// Has the terminal give each key at once, and not show it; signals still come of Ctrl-C.
    /// - Returns: how it was; `nil` when the input is none.
    private func takeKeys() -> termios? {
        var settings = termios()
        guard tcgetattr(input.rawValue, &settings) == 0 else { return nil }
        let before = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // What was typed ahead stays.
        return tcsetattr(input.rawValue, TCSANOW, &settings) == 0 ? before : nil
    }

    private func untilKey(_ key: Character, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            if isatty(input.rawValue) == 1 { group.addTask { try await waitForKey(key) } }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            try await group.next()
        }
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
