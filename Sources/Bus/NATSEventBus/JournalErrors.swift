internal import EventBus
internal import NATS

extension BusError {
    init(_ error: NATSError) {
        let code: Code =
            switch error.code {
            case .closed: .closed
            case .disconnected, .incomplete, .noResponders, .timeout: .unavailable
            case .unauthenticated: .denied
            case .denied: .forbidden
            case .tooLarge, .congested, .overflow, .invalid: .refused
            }
        let remedy =
            code == .forbidden
            ? "; its contract and the role of its key decide: after a change, export the users again, and reload the servers"
            : ""
        self.init(code, error.message + remedy)
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
