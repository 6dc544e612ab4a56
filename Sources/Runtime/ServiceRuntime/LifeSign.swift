internal import Foundation
public import ServiceLifecycle
internal import SystemSupport

/// Tells the supervisor again and again that the process lives, if it asks for that.
///
/// That this task comes to run proves that the cooperative pool does; before each word, each of the given actors must have
/// answered on its own thread, too. A process in which one of them hangs falls silent, and is replaced.
struct LifeSign: Service {
    let watchdog: Watchdog
    let actors: [any Actor]
    let notifier: Notifier
    let clock: any Clock<Duration>

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    for actor in actors { await Self.answer(actor) }
                    notifier.notify(.alive)
                    try await clock.sleep(for: watchdog.interval)
                }
            }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // What stops is given its time otherwise.
        }
    }

    private static func answer(_ actor: isolated any Actor) {}
}

/// How often the supervisor wants to hear that the process lives (sd_watchdog_enabled(3)).
struct Watchdog: Sendable, Equatable {
    /// Within this time it must hear it.
    let timeout: Duration

    /// - Returns: nil if nobody asks this process: the variables are not set, or are another process's.
    init?(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        pid: Int32 = ProcessInfo.processInfo.processIdentifier
    ) {
        guard let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text), microseconds > 0 else {
            return nil
        }
        // A child inherits the variables of who was asked.
        if let owner = environment["WATCHDOG_PID"], owner != String(pid) { return nil }
        timeout = .microseconds(microseconds)
    }

    /// Half of the time, as the manual advises.
    var interval: Duration { timeout / 2 }
}

/// A service whose actor has a thread of its own. A process whose supervisor watches it counts as alive only while that
/// thread answers.
public protocol ThreadedService: Service {
    associatedtype Owner: Actor

    /// The actor that lives on the thread.
    var owner: Owner { get }
}
