public import ArgumentParser

/// The option of every service to tell what it receives and sends, instead of running.
public struct ContractOption: ParsableArguments, Sendable {
    @Flag(name: .customLong("contract"), help: "Print what it receives and sends, as JSON, and end.")
    public var isAsked = false

    public init() {}
}
