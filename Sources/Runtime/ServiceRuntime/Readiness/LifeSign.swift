internal import Foundation
internal import ServiceLifecycle

/// Tells the supervisor again and again that the process lives, if it asks for that.
///
/// That this task comes to run proves that the cooperative pool does; before each word, each of the given actors must have
/// answered on its own thread, too. A process in which one of them hangs falls silent, and is replaced.
struct LifeSign: Service {
    let watchdog: Watchdog
    let actors: [any Actor]
    let notifier: ServiceNotifier
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
