internal import EventBus
internal import NATS

extension BusError {
    init(_ error: NATSError) {
        let code: Code =
            switch error.code {
            case .closed: .closed
            case .disconnected, .incomplete, .noResponders, .timeout: .unavailable
            case .unauthenticated: .denied
            case .denied, .tooLarge, .congested, .overflow, .invalid: .refused
            }
        self.init(code, error.message)
    }

    init(_ error: JetStreamError) {
        let code: Code =
            switch error.code {
            case .limitReached, .storageFull, .insufficientResources, .notEnabled, .notEnabledForAccount: .journal
            case .wrongLastSequence: .fenced
            default: .refused
            }
        self.init(code, error.message)
    }
}
