import Broker
import Consuming
import Contracts
import EventBus
import ServiceLifecycle
import ServiceRuntime

/// The broker as a service of its process. The service is ready when the broker accepts requests.
struct BrokerService: ReadyService, ThreadedService {
    let broker: Broker
    let ready = ReadySignal()

    var owner: Broker { broker }

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await broker.run { ready.signal() }
        }
    }
}

extension BrokerNotice {
    /// The notice as an `error.ApplicationError` message. Nil if the message cannot be encoded.
    func envelope(source: String) -> Envelope? {
        let error = ApplicationError(code: "broker.\(code.rawValue)", message: message, severity: severity)
        return try? Envelope(error, source: source)
    }

    private var severity: ApplicationError.Severity {
        switch code {
        case .damaged, .lostEnd, .unwritable: .error
        case .consumerBehind, .consumerCutOff: .warning
        case .writable: .info
        }
    }
}
