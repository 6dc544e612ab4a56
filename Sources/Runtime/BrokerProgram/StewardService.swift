#if NATS
internal import Broker
internal import Consuming
internal import EventBus
internal import Logging
internal import NATS
internal import NATSLayout
internal import ServiceLifecycle
internal import ServiceRuntime
internal import Steward
internal import Support

/// The steward of a bus on NATS as a service of its process. The service is ready when the streams exist and the
/// steward leads or follows.
struct StewardService: ReadyService {
    let ready = Latch()
    private let steward: Steward

    init(
        _ address: NATSAddress, options: JournalOptions, retention: RetentionLimits,
        configuration: ServiceConfiguration, process: ServiceProcess, logger: Logger
    ) throws {
        var servers = NATSOptions(servers: address.urls, name: process.source)
        servers.setFiles { configuration.value($0) }
        let settings = StewardConfiguration(
            namespace: address.namespace, replicas: try options.replicaCount(),
            limits: retention, source: process.source,
            describe: { $0.envelope(source: process.source) })
        steward = Steward(servers, settings, logger: logger)
    }

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await steward.run { role in
                ServiceStatus.report(role == .follower ? "follows another broker" : "leads")
                ready.open()
            }
        }
    }
}
#endif
