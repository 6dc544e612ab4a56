public import ArgumentParser

/// The options that every service has.
public struct ServiceOptions: ParsableArguments, Sendable {
    @Option(help: "The bus, such as ipc:///run/segue or tcp://host:port. Without it, SEGUE_BUS names it.")
    public var bus: String?

    @OptionGroup public var contract: ContractOption

    public init() {}

    /// Where the bus is: `--bus`, else `SEGUE_BUS`.
    /// - Throws: ``ConfigurationError`` when neither is given.
    public func busAddress(_ configuration: ServiceConfiguration) throws -> String {
        guard let address = bus ?? configuration.value("SEGUE_BUS") else {
            throw ConfigurationError(
                "no bus is given", recovery: "set SEGUE_BUS, or use --bus, as in --bus ipc:///run/segue")
        }
        return address
    }
}
