internal import ArgumentParser
internal import EventBus

/// Whether what is sent is held to what the services on the bus say of it.
struct CheckOptions: ParsableArguments, Sendable {
    @Flag(name: .customLong("no-check"), help: "Send it, whatever the services say of its data.")
    var isOff = false

    /// - Returns: nil when nothing is checked.
    func check(on bus: any EventBus) async throws -> MessageCheck? {
        isOff ? nil : try await MessageCheck(on: bus)
    }
}
