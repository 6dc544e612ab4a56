public import EventBus
public import Logging
internal import ZeroMQEventBus

/// Creates the bus of a process from an address.
public struct BusFactory: Sendable {
    private let connect: @Sendable (_ address: String, _ source: String, Logger) throws -> any EventBus

    public init(_ connect: @escaping @Sendable (_ address: String, _ source: String, Logger) throws -> any EventBus) {
        self.connect = connect
    }

    /// Creates a bus.
    /// - Parameters:
    ///   - address: The address of the bus. The factory ``standard`` accepts the addresses of a broker:
    ///     `ipc:///DIRECTORY` and `tcp://HOST:PORT`.
    ///   - source: The CloudEvents source of the messages that the process publishes: `name/instance`.
    /// - Throws: ``BusError`` with code ``BusError/Code/address`` if the address cannot be used.
    package func bus(at address: String, source: String, logger: Logger) throws -> any EventBus {
        try connect(address, source, logger)
    }

    /// The transports of Segue.
    public static let standard = BusFactory { address, source, logger in
        try ZeroMQEventBus(address: address, source: source, logger: logger)
    }
}
