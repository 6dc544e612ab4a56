public import ArgumentParser
internal import CommandLineSupport
package import Support

/// The command-line options of a service that needs the address of the bus.
public struct ServiceOptions: ParsableArguments, Sendable {
    @Option(
        help: "Address of the bus: ipc:///run/segue, tcp://host:port or nats://host (default: the variable SEGUE_BUS).")
    public var bus: String?

    @Flag(help: "Use a network address without keys: all who reach the port may read and publish everything.")
    public var insecure = false

    @OptionGroup public var contract: ContractOption

    public init() {}

    /// The address of the bus: `--bus`, else `SEGUE_BUS`.
    /// - Throws: ``ConfigurationError`` if neither is given.
    public func busAddress(_ configuration: ServiceConfiguration) throws -> String {
        guard let address = bus ?? configuration.value("SEGUE_BUS") else {
            throw ConfigurationError(
                "the address of the bus is not given",
                recovery: "set SEGUE_BUS, or use --bus, as in --bus ipc:///run/segue")
        }
        return address
    }
}

/// The option `--contract`. It prints the messages that a service receives and sends, and does not run the service.
public struct ContractOption: ParsableArguments, Sendable {
    @Flag(
        name: .customLong("contract"),
        help: "Print the messages that the service receives and sends as JSON, and exit.")
    public var isAsked = false

    /// The parser calls this before it prints the help of any program with this option.
    public init() {
        HelpWidth.ensure()
    }
}

extension AgeLimit: ExpressibleByArgument {}
