public import EventBus
internal import Foundation
public import Logging
internal import Support
internal import ZeroMQEventBus

#if NATS
internal import NATSEventBus
#endif

/// Creates the bus of a process from an address.
///
/// The scheme of the address selects the engine. Only this module, the broker, the launcher, `SegueTestSupport` and the
/// benchmarks import an engine; everything else uses ``EventBus``.
public struct BusFactory: Sendable {
    private let connect: @Sendable (Connection) throws -> EventBus
    /// The variables that name files with the keys of the process.
    private var variables = ProcessInfo.processInfo.environment

    public typealias Connect =
        @Sendable (_ address: String, _ source: String, _ logger: Logger) throws -> EventBus

    public init(_ connect: @escaping Connect) {
        self.connect = { try connect($0.address, $0.source, $0.logger) }
    }

    /// What an engine needs to connect a process to a bus.
    private struct Connection: Sendable {
        let address: String
        let source: String
        let isInsecure: Bool
        let variables: [String: String]
        let logger: Logger
    }

    /// Creates a bus.
    /// - Parameters:
    ///   - address: The address of the bus. The factory ``standard`` accepts the addresses of a broker,
    ///     `ipc:///DIRECTORY` and `tcp://HOST:PORT`, and those of servers of NATS, `nats://HOST:PORT/NAME` and
    ///     `tls://HOST:PORT/NAME`.
    ///   - source: The CloudEvents source of the messages that the process publishes: `name/instance`.
    ///   - isInsecure: True if the address of a broker on a network may be used without a key.
    /// - Throws: ``BusError`` with code ``BusError/Code/address`` if the address cannot be used,
    ///   ``BusError/Code/key`` if a key cannot be used.
    package func bus(at address: String, source: String, isInsecure: Bool = false, logger: Logger) throws -> EventBus {
        try connect(
            Connection(
                address: address, source: source, isInsecure: isInsecure, variables: variables, logger: logger))
    }

    /// The same factory for a process that has another key file of a broker's bus than `SEGUE_BUS_CURVE` says.
    /// - Parameter keyFile: Nil for that variable.
    package func using(keyFile: String?) -> BusFactory {
        var factory = self
        if let keyFile { factory.variables[KeyFilePlace.variable] = keyFile }
        return factory
    }

    /// The engines of Segue. The scheme of the address selects the engine.
    public static let standard = BusFactory(engines: [
        Engine(addresses: ["ipc:///DIRECTORY", "tcp://HOST:PORT"]) {
            try EventBus.zeroMQ(
                address: $0.address, source: $0.source, isInsecure: $0.isInsecure, logger: $0.logger,
                variables: $0.variables)
        },
        Engine(addresses: ["nats://HOST:PORT/NAME", "tls://HOST:PORT/NAME"]) {
            #if NATS
            try EventBus.nats(
                address: $0.address, source: $0.source, logger: $0.logger, variables: $0.variables)
            #else
            throw BusError.withoutNATS
            #endif
        },
    ])

    private struct Engine: Sendable {
        /// The forms of the addresses, each with its own scheme.
        let addresses: [String]
        let connect: @Sendable (Connection) throws -> EventBus

        func accepts(_ address: String) -> Bool {
            addresses.contains { $0.cut(at: ":")?.before == address.cut(at: ":")?.before }
        }
    }

    private init(engines: [Engine]) {
        connect = { connection in
            guard let engine = engines.first(where: { $0.accepts(connection.address) }) else {
                let forms = engines.flatMap(\.addresses).joined(separator: ", ")
                throw BusError(.address, "'\(connection.address)' is not the address of a bus; write one of \(forms)")
            }
            return try engine.connect(connection)
        }
    }
}

extension BusError {
    /// The error of a program that was built without the bus on NATS, and gets an address of it.
    package static var withoutNATS: BusError {
        BusError(
            .address,
            "the bus is on NATS, and this program was built without it; give the package segue the trait NATS")
    }
}
