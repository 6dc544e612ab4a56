internal import EventBus
internal import Foundation
public import ServiceLifecycle
internal import SystemSupport

/// Tells the supervisor at regular intervals that the process is alive.
///
/// Before each message, each of ``actors`` must answer. If an actor hangs, the messages stop, and the supervisor takes
/// the process for dead.
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
            // The service stops. `ServiceHost.grace` limits the time until the process has stopped.
        }
    }

    private static func answer(_ actor: isolated any Actor) {}
}

/// An actor on the thread of a bus.
actor BusThread {
    /// The thread lasts as long as the bus.
    private let bus: EventBus
    nonisolated let unownedExecutor: UnownedSerialExecutor

    /// Nil if the bus has no thread of its own.
    init?(_ bus: EventBus) {
        guard let executor = bus.taskExecutor else { return nil }
        self.bus = bus
        unownedExecutor = executor.asUnownedSerialExecutor()
    }
}

/// The supervisor's request for messages that the process is alive (sd_watchdog_enabled(3)).
struct Watchdog: Sendable, Equatable {
    /// The maximum time between two messages. After a longer silence the supervisor takes the process for dead.
    let timeout: Duration

    /// Reads the request from the environment. Nil if the supervisor does not watch this process: `WATCHDOG_USEC` is
    /// not a positive number, or `WATCHDOG_PID` is the id of another process.
    init?(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        pid: Int32 = ProcessInfo.processInfo.processIdentifier
    ) {
        guard let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text), microseconds > 0 else {
            return nil
        }
        // A child process inherits the variables of its parent, which may be the watched process.
        if let owner = environment["WATCHDOG_PID"], owner != String(pid) { return nil }
        timeout = .microseconds(microseconds)
    }

    /// Half of the timeout, as the manual recommends.
    var interval: Duration { timeout / 2 }
}

/// A service whose actor has a thread of its own. If the supervisor watches the process, the process counts as alive
/// only while this thread answers.
public protocol ThreadedService: Service {
    associatedtype Owner: Actor

    /// The actor that runs on the thread.
    var owner: Owner { get }
}
