internal import ArgumentParser
internal import SystemSupport

/// The end of a command by a signal of the terminal or of a supervisor.
enum Interruption {
    /// Runs `body`, and cancels it when the terminal or a supervisor wants the command to end: what it has started and
    /// made is cleaned up all the same.
    /// - Throws: `ExitCode` as a shell gives it to what a signal ended; what `body` throws.
    static func ending<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        switch try await ShutdownSignals.run(body) {
        case .value(let value): return value
        case .signal(let signal): throw ExitCode(128 + signal)
        }
    }

    /// The same for a command whose usual end is a signal.
    /// - Returns: the signal; nil when `body` came to an end by itself.
    /// - Throws: what `body` throws before a signal comes.
    @discardableResult
    static func stopping(_ body: @escaping @Sendable () async throws -> Void) async throws -> Int32? {
        guard case .signal(let signal) = try await ShutdownSignals.run(body) else { return nil }
        return signal
    }
}
