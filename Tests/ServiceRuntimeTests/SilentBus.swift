import EventBus
import RuntimeTestSupport

/// A bus whose broker never answers a claim.
struct SilentBus: ForwardingBus {
    let bus: any EventBus
    /// Opened by the first claim.
    let asked = Gate()

    func claim(consumer: String, as member: ConsumerMember) async throws -> ConsumerClaim {
        asked.open()
        try await Gate().pass()
        throw CancellationError()
    }
}
