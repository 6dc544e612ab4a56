import EventBus
import SegueTestSupport
import Testing

@Suite("Four coordinators of a platform on the default stack")
struct ScaledCoordinatorTests {
    @Test(
        "Four coordinators share the sessions, answer each message once, and continue when one is killed",
        .timeLimit(.minutes(4)))
    func scaled() async throws {
        try await Story.tell { story in
            try await story.processes.scale("ios-coordinator", to: 4)
            let consumer = try #require(
                try await story.bus.inspect.consumers().first { $0.name == "navigation-coordinator.ios" })
            #expect(consumer.memberCount == 4)
            let sessions = SharedSessions(stack: try story.processes, platform: "ios")
            try await sessions.launch()
            try await sessions.waitUntilShared(by: 4)
            try await sessions.sendCommands(whileKilling: "ios-coordinator-2")
            try sessions.expectOneAnswerPerCommand()
            #expect(try await story.bus.inspect.deadLetters(of: nil).isEmpty)
        }
    }
}
