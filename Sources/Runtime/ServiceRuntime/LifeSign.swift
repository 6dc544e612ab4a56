internal import Foundation
public import ServiceLifecycle
internal import SystemSupport

/// Tells the supervisor at regular intervals that the process is alive, if the supervisor asks for that.
///
/// Before each message, every given actor must have answered on its own thread. That this task runs shows that the
/// cooperative pool works. If an actor hangs, the messages stop, and the supervisor replaces the process.
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
            // The service stops. How long that may take is limited elsewhere.
        }
    }

    private static func answer(_ actor: isolated any Actor) {}
}

/// The supervisor's request for signs of life (sd_watchdog_enabled(3)).
struct Watchdog: Sendable, Equatable {
    /// The time after which a silent process counts as dead.
    let timeout: Duration

    /// - Returns: nil if the supervisor does not watch this process: the variables are not set, or belong to another
    ///   process.
    init?(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        pid: Int32 = ProcessInfo.processInfo.processIdentifier
    ) {
        guard let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text), microseconds > 0 else {
            return nil
        }
        // A child process inherits the variables of the process that is watched.
        if let owner = environment["WATCHDOG_PID"], owner != String(pid) { return nil }
        timeout = .microseconds(microseconds)
    }

    /// Half of the timeout, as the manual recommends.
    var interval: Duration { timeout / 2 }
}

/// A service whose actor has a thread of its own. If the supervisor watches the process, it counts as alive only while
/// that thread answers.
public protocol ThreadedService: Service {
    associatedtype Owner: Actor

    /// The actor that runs on the thread.
    var owner: Owner { get }
}
