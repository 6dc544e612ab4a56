@preconcurrency import Dispatch
import Glibc

/// The signals by which a terminal or a supervisor asks a process to end.
package enum ShutdownSignals {
    /// A person's Ctrl-C, a supervisor, and a terminal that is closed.
    package static let standard = [SIGINT, SIGTERM, SIGHUP]

    /// How ``run(until:_:)`` has ended.
    package enum Ending<Value: Sendable>: Sendable {
        /// The work is done.
        case value(Value)
        /// A signal came first.
        case signal(CInt)
    }

    /// Runs `body` until it is done or a signal asks for the end. A signal cancels `body`, which has then returned: what it has
    /// started and made is cleaned up. Signals are heard before `body` begins: what it starts is never left behind.
    /// - Throws: what `body` throws before a signal comes. What it throws afterwards is a consequence of the signal, and is
    ///   dropped.
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

    /// Each arrival of one of the signals, which meanwhile do nothing else; afterwards they do what they do by default.
    ///
    /// Children must not inherit that: Subprocess resets what they do with signals, and so must whoever forks otherwise.
    package static func arrivals(of signals: [CInt]) -> AsyncStream<CInt> {
        arrivals(of: signals) {}
    }

    /// - Parameter onRegistration: called once for each signal, as soon as it is heard.
    private static func arrivals(
        of signals: [CInt], onRegistration: @escaping @Sendable () -> Void
    ) -> AsyncStream<CInt> {
        // The first stops, the second hastens; more tell nothing new.
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
