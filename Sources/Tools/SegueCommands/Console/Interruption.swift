internal import ArgumentParser
internal import SystemSupport

/// Cancels a command when the terminal or another process sends a signal to end it.
enum Interruption {
    /// Runs `body`, and cancels it at SIGINT, SIGTERM or SIGHUP.
    /// - Throws: `ExitCode` 128 + the signal's number, as a shell reports it; the errors of `body`.
    static func ending<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        switch try await ShutdownSignals.run(body) {
        case .value(let value): return value
        case .signal(let signal): throw ExitCode(128 + signal)
        }
    }

    /// Runs `body`, and cancels it at SIGINT, SIGTERM or SIGHUP. The signal is not an error.
    /// - Returns: the signal's number; nil if `body` ended before a signal arrived.
    /// - Throws: the errors that `body` throws before a signal arrives.
    @discardableResult
    static func stopping(_ body: @escaping @Sendable () async throws -> Void) async throws -> Int32? {
        guard case .signal(let signal) = try await ShutdownSignals.run(body) else { return nil }
        return signal
    }
}
