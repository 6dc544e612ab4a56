import Contracts
import Coordinator
import EventBus
import Navigation
import SegueTestSupport
import TestSupport
import Testing

@Suite("Coordinator: rules that wait", .timeLimit(.minutes(1)))
struct CoordinatorWaitTests {
    let fixture = CoordinatorFixture()
    var view: EventBus { fixture.view }

    /// The flow leaves its first screen after 3 s, unless the hint covers it.
    @discardableResult
    private func withFlow<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let flow = try Flow("news", version: 1, platform: "ios", start: "splash") {
            for name in ["splash", "list", "hint"] { Flow.Screen(name) }
            Flow.Transition(after: .seconds(3), when: [.top("splash")], do: [.setRoot("list")])
            Flow.Transition(on: "event.Warned", do: [.push("hint")])
        }
        return try await withRunning(fixture.coordinator(flow), body)
    }

    /// Begins the session, and waits until the rule waits.
    /// - Returns: The launch, and the id of the wait.
    private func launch() async throws -> (launch: Envelope, wait: String) {
        let launch = try await view.publish(DomainEvent.LaunchFinished(), origin: fixture.phone)
        let snapshot = try await fixture.snapshot { !$0.state.waits.isEmpty }
        return (launch, snapshot.state.waits[0].id)
    }

    /// The recorded times that rules wait.
    private func waits() async throws -> [Document.Deadline] {
        try await view.documents(matching: [.type(Document.Deadline.self)])
            .map { try $0.decode(Document.Deadline.self) }.filter { $0.object == .attempt }
    }

    @Test("The actions are taken when the time is over, as part of the story in which the wait began")
    func fires() async throws {
        try await withFlow {
            let (launch, wait) = try await launch()
            #expect(try await waits() == [Document.Deadline(platform: "ios", object: .attempt, id: wait, delay: 3000)])
            try await fixture.clock.sleepers()
            fixture.clock.advance(by: .milliseconds(2999))
            #expect(try await view.journalled(DomainEvent.GuardDeadlinePassed.self).isEmpty)
            fixture.clock.advance(by: .milliseconds(1))
            let snapshot = try await fixture.snapshot { $0.state.root.instance.screen == "list" }
            #expect(snapshot.rule == "transitions[0]" && snapshot.state.waits.isEmpty)
            let report = try await view.received(DomainEvent.GuardDeadlinePassed.self)[0]
            #expect(report.id == wait + ".ios.deadline" && report.id == snapshot.cause)
            #expect(report.attributes.correlationID == launch.id)
            #expect(try await waits().isEmpty)
        }
    }

    @Test("After a restart the time begins again, and no report is published for a wait whose conditions ended")
    func interrupted() async throws {
        let wait = try await withFlow { try await launch().wait }
        try await withFlow {
            try await fixture.clock.sleepers()
            fixture.clock.advance(by: .milliseconds(2999))
            #expect(try await waits().map(\.id) == [wait])
            try await view.publish(DomainEvent.Warned())
            try await fixture.snapshot { $0.state.waits.isEmpty }
            #expect(try await waits().isEmpty)
            fixture.clock.advance(by: .seconds(3))
            // The machine handles messages in order: when the screen is there, a report before it would have been handled.
            try await view.publish(DomainEvent.Warned())
            let snapshot = try await fixture.snapshot { $0.state.path.count == 2 }
            #expect(snapshot.state.root.instance.screen == "splash")
        }
        #expect(try await view.journalled(DomainEvent.GuardDeadlinePassed.self).isEmpty)
    }
}
