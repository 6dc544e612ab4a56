import Broker
import ServiceLifecycle
import ServiceRuntime

/// The broker as a service of its process: ready when it listens.
struct BrokerService: ReadyService {
    let broker: Broker
    let ready = ReadySignal()

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await broker.run { ready.signal() }
            }
        } catch is CancellationError where Task.isShuttingDownGracefully {
            // This is how a broker ends.
        }
    }
}
