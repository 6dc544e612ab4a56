internal import EventBus
internal import ZeroMQEventBus

extension BusFactory {
    /// The transport that all executables use.
    public static let standard = BusFactory { address, source, logger in
        try ZeroMQEventBus(address: address, source: source, logger: logger)
    }
}
