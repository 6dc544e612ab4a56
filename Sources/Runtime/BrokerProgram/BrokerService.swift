internal import Broker
internal import Consuming
internal import Contracts
internal import EventBus
internal import ServiceLifecycle
internal import ServiceRuntime
internal import Support

/// The broker as a service of its process. The service is ready when the broker accepts requests.
struct BrokerService: ReadyService, ThreadedService {
    let broker: Broker
    let ready = Latch()

    var owner: Broker { broker }

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await broker.run { ready.open() }
        }
    }
}

extension BusNotice {
    /// The notice as an `error.ApplicationError` message. Nil if the message cannot be encoded.
    func envelope(source: String) -> Envelope? {
        let severity: ApplicationError.Severity =
            switch severity {
            case .error: .error
            case .warning: .warning
            case .information: .info
            }
        let error = ApplicationError(code: "broker.\(code.rawValue)", message: message, severity: severity)
        return try? Envelope(error, source: source)
    }
}
