internal import EventBus
internal import ServiceLifecycle

/// Drives the bus. It is the first of the group, and so the last to be stopped.
struct BusService: Service {
    let bus: any EventBus

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await bus.run() }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // This is how a bus ends.
        }
    }
}
