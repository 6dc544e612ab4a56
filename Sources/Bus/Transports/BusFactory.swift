public import EventBus
public import Logging
internal import ZeroMQEventBus

/// Makes the bus of a process from an address: the one place where an engine is chosen.
public struct BusFactory: Sendable {
    private let connect: @Sendable (_ address: String, _ source: String, Logger) throws -> any EventBus

    public init(_ connect: @escaping @Sendable (_ address: String, _ source: String, Logger) throws -> any EventBus) {
        self.connect = connect
    }

    /// - Parameters:
    ///   - address: a URL; its scheme chooses the engine. `ipc:///DIRECTORY` and `tcp://HOST:PORT` are a broker's.
    ///   - source: the CloudEvents source of what is published: `name/instance`.
    /// - Throws: ``BusError`` with code ``BusError/Code/address`` if the address cannot be used.
    package func bus(at address: String, source: String, logger: Logger) throws -> any EventBus {
        try connect(address, source, logger)
    }

    /// The engines of Segue.
    public static let standard = BusFactory { address, source, logger in
        try ZeroMQEventBus(address: address, source: source, logger: logger)
    }
}
