public import EventBus
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
    private let connect: Connect

    public typealias Connect =
        @Sendable (_ address: String, _ source: String, _ logger: Logger) throws -> EventBus

    public init(_ connect: @escaping Connect) {
        self.connect = connect
    }

    /// Creates a bus.
    /// - Parameters:
    ///   - address: The address of the bus. The factory ``standard`` accepts the addresses of a broker,
    ///     `ipc:///DIRECTORY` and `tcp://HOST:PORT`, and those of servers of NATS, `nats://HOST:PORT/NAME` and
    ///     `tls://HOST:PORT/NAME`.
    ///   - source: The CloudEvents source of the messages that the process publishes: `name/instance`.
    /// - Throws: ``BusError`` with code ``BusError/Code/address`` if the address cannot be used.
    package func bus(at address: String, source: String, logger: Logger) throws -> EventBus {
        try connect(address, source, logger)
    }

    /// The engines of Segue. The scheme of the address selects the engine.
    public static let standard = BusFactory(engines: [
        Engine(addresses: ["ipc:///DIRECTORY", "tcp://HOST:PORT"]) {
            try EventBus.zeroMQ(address: $0, source: $1, logger: $2)
        },
        Engine(addresses: ["nats://HOST:PORT/NAME", "tls://HOST:PORT/NAME"]) {
            #if NATS
            try EventBus.nats(address: $0, source: $1, logger: $2)
            #else
            throw BusError.withoutNATS
            #endif
        },
    ])

    private struct Engine: Sendable {
        /// The forms of the addresses, each with its own scheme.
        let addresses: [String]
        let connect: Connect

        func accepts(_ address: String) -> Bool {
            addresses.contains { $0.cut(at: ":")?.before == address.cut(at: ":")?.before }
        }
    }

    private init(engines: [Engine]) {
        self.init { address, source, logger in
            guard let engine = engines.first(where: { $0.accepts(address) }) else {
                let forms = engines.flatMap(\.addresses).joined(separator: ", ")
                throw BusError(.address, "'\(address)' is not the address of a bus; write one of \(forms)")
            }
            return try engine.connect(address, source, logger)
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
