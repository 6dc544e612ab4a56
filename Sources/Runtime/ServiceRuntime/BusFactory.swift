public import EventBus
public import Logging
internal import ZeroMQEventBus

/// Makes the bus of a process from an address: the one place where a transport is chosen.
public struct BusFactory: Sendable {
    private let connect: @Sendable (_ address: String, _ source: String, Logger) throws -> any EventBus

    public init(_ connect: @escaping @Sendable (_ address: String, _ source: String, Logger) throws -> any EventBus) {
        self.connect = connect
    }

    /// - Throws: ``BusError`` with code ``BusError/Code/address`` if the address cannot be used.
    func bus(at address: String, source: String, logger: Logger) throws -> any EventBus {
        try connect(address, source, logger)
    }

    /// The transport that all executables use.
    public static let standard = BusFactory { address, source, logger in
        try ZeroMQEventBus(address: address, source: source, logger: logger)
    }
}
