import Broker
import Contracts
import EventBus

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
