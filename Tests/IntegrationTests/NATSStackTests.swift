import Contracts
import EventBus
import SegueTestSupport
import Testing

@Suite("Processes on a server of NATS", .timeLimit(.minutes(5)))
struct NATSStackTests {
    /// Runs a stack whose services use a server of its own.
    private func withStack(_ body: @escaping @Sendable (TestStack) async throws -> Void) async throws {
        let notifier = TestService("error-notifier", after: ["broker"])
        let engine = TestEngine.nats(server: Repository.path(".build/nats-server"))
        try await TestStack.with([.broker, notifier], engine: engine, body)
    }

    private func isShown(_ code: String, on stack: TestStack) async throws {
        let error = try await stack.bus.publish(ApplicationError(code: code, message: "It failed."))
        try await stack.document(Document.ErrorBanner.self) { $0.errorID == error.id }
        try await stack.bus.send(Command.ErrorDismissed(errorID: error.id))
        try await stack.document(Document.ErrorBanner.self) { $0.errorID == nil }
    }

    @Test(
        "go on after the kill of the server, of the steward and of a service",
        arguments: ["nats", "broker", "error-notifier"])
    func kills(service: String) async throws {
        try await withStack { stack in
            try await isShown("before", on: stack)
            try await stack.killAndRestart(service)
            try await isShown("after", on: stack)
        }
    }

    @Test("disappear from the bus when they are killed, and their successors appear")
    func presence() async throws {
        try await withStack { stack in
            let first = try await stack.message(Document.Presence.self) { $0.name == "error-notifier" }
            try await stack.killAndRestart("error-notifier")
            try await stack.message(Document.Presence.self, after: first.envelope) {
                $0.name == "error-notifier" && $0.instance != first.message.instance
            }
            try await stack.until("the killed process has disappeared") { messages in
                messages.contains {
                    $0.type == Document.Presence.type && $0.isTombstone && $0.attributes.key == first.message.instance
                }
            }
        }
    }
}
