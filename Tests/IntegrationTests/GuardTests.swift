import Contracts
import EventBus
import Foundation
import Navigation
import SegueTestSupport
import Testing

extension Command {
    struct NextRequested: CommandMessage {
        var errorID: String
    }
}

/// Uses the error notifier as the service that a guard asks: it answers the dismissal of an error with the next banner.
@Suite("Guards and killed processes")
struct GuardTests {
    private func withFlow(
        deadline: String, _ body: @escaping @Sendable (TestStack) async throws -> Void
    ) async throws {
        let flow = """
            name: form
            version: 1
            platform: ios
            start: form
            screens: { form: , done: , sorry: }
            transitions:
              - on: command.NextRequested
                guard:
                  ask: { type: command.ErrorDismissed, data: { errorID: "${data.errorID}" } }
                  accept: document.ErrorBanner
                  deadline: \(deadline)
                  expired: [{ present: { screen: sorry, style: sheet } }]
                do: [{ push: done }]
            """
        let notifier = TestService("error-notifier", after: ["broker"])
        try await TestStack.with(flow: flow, beside: [notifier]) { stack, _ in try await body(stack) }
    }

    /// Starts a guard that waits for a frozen service.
    private func wait(_ stack: TestStack) async throws -> Envelope {
        let error = try await stack.bus.publish(ApplicationError(code: "test.failed", message: "It failed."))
        try await stack.document(Document.ErrorBanner.self) { $0.errorID == error.id }
        try await stack.freeze("error-notifier")
        let command = try await stack.bus.send(Command.NextRequested(errorID: error.id))
        try await stack.message(Document.NavigationState.self) { $0.snapshot.state.attempt != nil }
        return command
    }

    @Test("The flow continues although the coordinator and the asked service are killed", .timeLimit(.minutes(3)))
    func killed() async throws {
        try await withFlow(deadline: "10m") { stack in
            let command = try await wait(stack)
            try await stack.killAndRestart("ios-coordinator")
            try await stack.document(Document.NavigationState.self, key: "ios") {
                $0.snapshot.state.attempt?.message.id == command.id
            }
            try await stack.killAndRestart("error-notifier")
            let state = try await stack.screen("done", on: "ios").state
            #expect(state.attempt == nil)
            #expect(state.path.map(\.screen) == ["done"])
            let questions = stack.messages.filter { $0.type == Command.ErrorDismissed.type }
            #expect(questions.map(\.id).contains(command.id + ".ios.ask"))
            #expect(questions.count { $0.attributes.source.hasPrefix("navigation-coordinator") } == 1, "asked once")
        }
    }

    @Test(
        "The deadline passes although the coordinator is killed and the asked service never answers",
        .timeLimit(.minutes(3)))
    func expired() async throws {
        try await withFlow(deadline: "500ms") { stack in
            let command = try await wait(stack)
            try await stack.killAndRestart("ios-coordinator")
            try await stack.screen("sorry", on: "ios")
            try await stack.message(DomainEvent.MessageDiscarded.self) { $0.messageID == command.id }
            try stack.thaw("error-notifier")
        }
    }
}
