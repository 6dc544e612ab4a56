internal import Consuming
internal import Logging
internal import ServiceLifecycle
internal import ServiceRuntime
internal import Support

/// The simulator as a service of its process. The service is ready when the simulator accepts connections.
struct SimulatorService: ReadyService {
    let ready: Latch
    private let simulator: SpotifySimulator

    init(catalogue: Catalogue, configuration: SpotifySimulator.Configuration, logger: Logger) throws {
        let ready = Latch()
        self.ready = ready
        simulator = try SpotifySimulator(
            catalogue: catalogue, configuration: configuration, logger: logger,
            onReady: { port in
                logger.notice("listening", metadata: ["url": "http://127.0.0.1:\(port)"])
                ready.open()
            })
    }

    func run() async throws {
        try await simulator.run()
    }
}
