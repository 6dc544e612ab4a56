import Broker
import Consuming
import ServiceLifecycle
import ServiceRuntime

/// The broker as a service of its process: ready when it listens.
struct BrokerService: ReadyService, ThreadedService {
    let broker: Broker
    let ready = ReadySignal()

    var owner: Broker { broker }

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
