public import EventBus
public import Logging
internal import ZeroMQEventBus

/// Creates the bus of a process from an address. This is the only place that chooses a transport.
public struct BusFactory: Sendable {
    private let connect: @Sendable (_ address: String, _ source: String, Logger) throws -> any EventBus

    public init(_ connect: @escaping @Sendable (_ address: String, _ source: String, Logger) throws -> any EventBus) {
        self.connect = connect
    }

    /// Creates a bus.
    /// - Parameters:
    ///   - address: A URL whose scheme selects the transport. `ipc:///DIRECTORY` and `tcp://HOST:PORT` are addresses of
    ///     a broker.
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
