internal import Consuming
internal import Logging
internal import ServiceLifecycle

/// Tells the supervisor of a process that is not on the bus that it is ready, once its services are.
struct ReadinessNotice: Service {
    let ready: [ReadySignal]
    let notifier: ServiceNotifier
    let logger: Logger

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                for signal in ready { try await signal.wait() }
                logger.info("ready")
                notifier.notify(.ready)
            }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            return
        }
        try await gracefulShutdown()
    }
}
