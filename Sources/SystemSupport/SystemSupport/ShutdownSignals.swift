@preconcurrency import Dispatch
import Glibc

/// The signals by which a terminal or a supervisor asks a process to end.
package enum ShutdownSignals {
    /// SIGINT (Ctrl-C), SIGTERM (a supervisor) and SIGHUP (the terminal was closed).
    package static let standard = [SIGINT, SIGTERM, SIGHUP]

    /// The result of ``run(until:_:)``.
    package enum Ending<Value: Sendable>: Sendable {
        /// `body` returned this value.
        case value(Value)
        /// This signal arrived first.
        case signal(CInt)
    }

    /// Runs `body` until it returns or a signal arrives. A signal cancels `body`; this function returns only after
    /// `body` has returned. The signals are handled before `body` begins.
    /// - Throws: The error that `body` throws before a signal arrives. An error after a signal is a consequence of the
    ///   signal and is dropped. `CancellationError` if the task is cancelled before either.
    package static func run<Value: Sendable>(
        until signals: [CInt] = standard, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Ending<Value> {
        let (registrations, registered) = AsyncStream.makeStream(of: Void.self)
        let arrivals = arrivals(of: signals) { registered.yield() }
        for await _ in registrations.prefix(signals.count) {}
        return try await withThrowingTaskGroup(of: Ending<Value>?.self) { group in
            group.addTask { .value(try await body()) }
            group.addTask { await arrivals.first { _ in true }.map { .signal($0) } }
            let ending = try await group.next() ?? nil
            group.cancelAll()
            while case .failure? = await group.nextResult() {}
            guard let ending else { throw CancellationError() }
            return ending
        }
    }

    /// The arrivals of the signals. While the stream exists, the signals have no other effect; after it has ended, they
    /// have their default effect.
    ///
    /// Child processes must not inherit this signal handling.
    package static func arrivals(of signals: [CInt]) -> AsyncStream<CInt> {
        arrivals(of: signals) {}
    }

    /// - Parameter onRegistration: Called once for each signal, as soon as its arrivals are observed.
    private static func arrivals(
        of signals: [CInt], onRegistration: @escaping @Sendable () -> Void
    ) -> AsyncStream<CInt> {
        // At most two signals wait to be read; further ones are dropped.
        AsyncStream(bufferingPolicy: .bufferingOldest(2)) { continuation in
            let sources = signals.map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { continuation.yield(number) }
                source.setRegistrationHandler { onRegistration() }
                source.activate()
                return source
            }
            continuation.onTermination = { _ in
                for source in sources { source.cancel() }
                for number in signals { signal(number, SIG_DFL) }
            }
        }
    }
}
