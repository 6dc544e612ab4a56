internal import EventBus
internal import NATS

extension Error {
    /// True for a failure after which the same request or another consumer may succeed. A client waits for the streams,
    /// which the steward makes.
    var passes: Bool {
        isTemporary || endsConsumer || (self as? JetStreamError)?.code == .streamNotFound
    }
}

extension BusError {
    init(_ error: NATSError) {
        let code: Code =
            switch error.code {
            case .closed: .closed
            case .disconnected, .incomplete, .noResponders, .timeout: .unavailable
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
