import CommandLineTestSupport
import Contracts
import EventBus
import SegueTestSupport
import Testing

@Suite("Processes on a server of NATS", .timeLimit(.minutes(5)))
struct NATSStackTests {
    /// Runs a stack whose services use a server of its own.
    private func withStack(_ body: @escaping @Sendable (TestStack) async throws -> Void) async throws {
        let notifier = TestService("error-notifier", after: ["broker"])
        try await TestStack.with([.broker, notifier], engine: BusEngine.nats.ofStack, body)
    }

    private func isShown(_ code: String, on stack: TestStack) async throws {
        let error = try await stack.bus.publish(ApplicationError(code: code, message: "It failed."))
        try await stack.document(Document.ErrorBanner.self) { $0.errorID == error.id }
        try await stack.bus.send(Command.ErrorDismissed(errorID: error.id))
        try await stack.document(Document.ErrorBanner.self) { $0.errorID == nil }
    }

    @Test(
        "The processes continue after a kill of the server, of the steward and of a service",
        arguments: ["nats", "broker", "error-notifier"])
    func kills(service: String) async throws {
        try await withStack { stack in
            try await isShown("before", on: stack)
            try await stack.killAndRestart(service)
            try await isShown("after", on: stack)
        }
    }

    @Test("An expired command is discarded with a report on NATS")
    func expired() async throws {
        try await withStack { stack in
            let command = try await stack.bus.send(Command.ErrorDismissed(errorID: "e1"), lifetime: .nanoseconds(1))
            try await stack.message(DomainEvent.MessageDiscarded.self) { $0.messageID == command.id }
        }
    }
}
