import Contracts
import EventBus
import SegueTestSupport
import Testing

@testable import greeter

@Suite("Greeter")
struct GreeterTests {
    @Test("The greeter welcomes a guest by name")
    func welcomes() async throws {
        try await TestStack.with([.broker, TestService("greeter", after: ["broker"])]) { stack in
            let command = try await stack.bus.send(Command.GuestArrived(name: "Ada"))
            try await stack.message(DomainEvent.GuestWelcomed.self, after: command) { $0.text == "Welcome, Ada!" }
        }
    }
}
