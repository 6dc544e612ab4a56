internal import BusProtocol
internal import EventBus

extension BusError {
    /// What the broker refused, in the terms of the bus.
    init(_ error: ProtocolError) {
        let code: Code =
            switch error.code {
            case .fenced: .fenced
            case .epoch: .epoch
            case .journal: .journal
            case .unserved: .unserved
            case .deadline: .deadline
            case .cancelled: .cancelled
            case .letter: .letter
            case .unrecorded: .unrecorded
            default: .refused
            }
        self.init(code, error.message)
    }
}
