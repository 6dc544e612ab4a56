import Contracts
import EventBus
import SegueTestSupport
import Testing

@testable import greeter

@Suite("Answer of a service to a message")
struct StackAnswerTests {
    @Test("The answer is the event or error that the message has caused", .timeLimit(.minutes(3)))
    func answer() async throws {
        try await TestStack.with([.broker, TestService("greeter", after: ["broker"])]) { stack in
            try await stack.bus.send(Command.GuestArrived(name: "Bo"))
            let sent = try await stack.bus.send(Command.GuestArrived(name: "Ada"))
            let answer = try await stack.answer(to: sent)
            #expect(answer.type == DomainEvent.GuestWelcomed.type && answer.attributes.causationID == sent.id)
        }
    }
}
