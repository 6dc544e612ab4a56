import Brewing
import CommandLineTestSupport
import Contracts
import EventBus
import Monitor
import SegueTestSupport
import Testing

@Suite("Tea timer with real processes", .timeLimit(.minutes(3)))
struct BrewTests {
    @Test(
        "Each due command is sent exactly once, however often its service is killed",
        arguments: BusEngine.allCases)
    func killed(engine: BusEngine) async throws {
        let services: [TestService] = [.broker, TestService("brewer", after: ["broker"])]
        try await TestStack.with(services, engine: engine.ofStack) { stack in
            var happenings = Happenings()
            try await happenings.learnDeclarations(of: stack.bus)
            // The timers end one after the other, so that each kill meets some that are due.
            let sessions = (0..<24).map { "guest-\($0)" }
            for (index, session) in sessions.enumerated() {
                try await stack.bus.send(Command.BrewStarted(seconds: 1 + index / 8), subject: session)
            }
            // One that is stopped in time is never sent.
            try await stack.bus.send(Command.BrewStarted(seconds: 2), subject: "hasty")
            try await stack.bus.send(Command.BrewStopped(), subject: "hasty")
            for count in [1, 5, 12, 20] {
                try await stack.until("\(count) teas are ready") { Self.ready(in: $0).count >= count }
                try await stack.killAndRestart("brewer")
            }
            try await stack.until("all teas are ready") { Self.ready(in: $0).count == sessions.count }
            // A last message of each session: nothing of it is behind.
            let last = try await stack.bus.send(Command.BrewStopped(), subject: "hasty")
            try await stack.message(DomainEvent.BrewEnded.self, after: last, subject: "hasty")
            let elapsed = stack.messages.filter { $0.type == Command.BrewElapsed.type }.map(\.subject)
            #expect(elapsed.sorted() == sessions.sorted())
            let told = stack.messages.filter { $0.subject == "hasty" }.compactMap { happenings.handle($0) }
            #expect(
                told.contains { $0.parts.contains("Brew 2 s") }, "the brewer's contract gives the line of its document")
            #expect(try await stack.bus.documents(matching: [.type(Document.ScheduledCommand.self)]).isEmpty)
            #expect(try await stack.bus.inspect.deadLetters(of: nil).isEmpty)
        }
    }

    private static func ready(in messages: [Envelope]) -> Set<String> {
        Set(messages.filter { $0.type == DomainEvent.BrewFinished.type }.map(\.subject))
    }
}
