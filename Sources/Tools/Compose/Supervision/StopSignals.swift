@preconcurrency import Dispatch
import Glibc

/// Signals to this process, as a sequence.
package enum StopSignals {
    /// Each arrival of one of the signals, which meanwhile do nothing else; afterwards they do what they do by default.
    ///
    /// Children do not inherit that: Subprocess resets what they do with signals.
    package static func arrivals(of signals: [Int32]) -> AsyncStream<Int32> {
        // The first stops, the second hastens; more tell nothing new.
        AsyncStream(bufferingPolicy: .bufferingOldest(2)) { continuation in
            let sources = signals.map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { continuation.yield(number) }
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
