internal import ArgumentParser
internal import Compose
internal import Glibc

/// The end of a command by a signal.
enum Interruption {
    private enum End<Value: Sendable>: Sendable {
        case value(Value)
        case signal(Int32)
    }

    /// Runs `body`, and cancels it when the terminal or a supervisor wants the command to end: what it has started and
    /// made is cleaned up all the same.
    /// - Throws: `ExitCode` as a shell gives it to what a signal ended; what `body` throws.
    static func ending<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        switch try await end(of: body) {
        case .value(let value): return value
        case .signal(let signal): throw ExitCode(128 + signal)
        }
    }

    /// The same for a command whose usual end is a signal.
    /// - Returns: the signal; nil when `body` came to an end by itself.
    /// - Throws: what `body` throws before a signal comes.
    @discardableResult
    static func stopping(_ body: @escaping @Sendable () async throws -> Void) async throws -> Int32? {
        guard case .signal(let signal) = try await end(of: body) else { return nil }
        return signal
    }

    private static func end<Value>(of body: @escaping @Sendable () async throws -> Value) async throws -> End<Value> {
        try await withThrowingTaskGroup(of: End<Value>?.self) { group in
            group.addTask { .value(try await body()) }
            group.addTask {
                await StopSignals.arrivals(of: [SIGINT, SIGTERM, SIGHUP]).first { _ in true }.map { .signal($0) }
            }
            let end = try await group.next() ?? nil
            group.cancelAll()
            // What is torn down may complain of it; that is not news.
            while case .failure? = await group.nextResult() {}
            guard let end else { throw CancellationError() }
            return end
        }
    }
}
