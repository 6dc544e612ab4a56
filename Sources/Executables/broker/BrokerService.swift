import Broker
import Consuming
import Contracts
import EventBus
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

extension BrokerNotice {
    /// As everybody hears of it: `error.ApplicationError`.
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
