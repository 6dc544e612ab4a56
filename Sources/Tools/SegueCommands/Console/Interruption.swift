internal import ArgumentParser
internal import Compose
internal import Glibc

/// The end of a command by a signal.
enum Interruption {
    /// Runs `body`, and cancels it when the terminal or a supervisor wants the command to end: what it has started and
    /// made is cleaned up all the same.
    /// - Throws: `ExitCode` as a shell gives it to what a signal ended; what `body` throws.
    static func ending(_ body: @escaping @Sendable () async throws -> Void) async throws {
        if let signal = try await stopping(body) { throw ExitCode(128 + signal) }
    }

    /// The same for a command whose usual end is a signal.
    /// - Returns: the signal; nil when `body` came to an end by itself.
    /// - Throws: what `body` throws before a signal comes.
    @discardableResult
    static func stopping(_ body: @escaping @Sendable () async throws -> Void) async throws -> Int32? {
        try await withThrowingTaskGroup(of: Int32?.self) { group in
            group.addTask {
                try await body()
                return nil
            }
            group.addTask { await StopSignals.arrivals(of: [SIGINT, SIGTERM, SIGHUP]).first { _ in true } }
            let signal = try await group.next() ?? nil
            group.cancelAll()
            // What is torn down may complain of it; that is not news.
            while case .failure? = await group.nextResult() {}
            return signal
        }
    }
}
