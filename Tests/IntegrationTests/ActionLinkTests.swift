import Contracts
import EventBus
import Navigation
import SegueTestSupport
import TestSupport
import Testing

extension Command {
    fileprivate struct Refresh: CommandMessage {}
    fileprivate struct TermsAccepted: CommandMessage {}
}

extension DomainEvent {
    fileprivate struct TermsChanged: EventMessage {}
}

@Suite("Links that open no screens, with real processes", .timeLimit(.minutes(3)))
struct ActionLinkTests {
    private static let flow = """
        name: news
        version: 1
        platform: ios
        start: list
        screens:
          list: { sends: [command.Refresh] }
          terms: { gate: true, sends: [command.TermsAccepted] }
        transitions:
          - { on: event.TermsChanged, do: [{ present: { screen: terms, style: sheet } }] }
          - { on: command.TermsAccepted, do: [{ dismiss: terms }] }
        links:
          - { url: "news://refresh", action: true, send: command.Refresh }
        """

    private func open(_ stack: TestStack) async throws -> Envelope {
        try await stack.bus.publish(
            DomainEvent.DeepLinkReceived(url: "news://refresh"), origin: Origin(platform: "ios", device: "phone"))
    }

    @Test("Each time its URL arrives, the command is sent once; behind a gate the link is refused, and does not wait")
    func refresh() async throws {
        try await TestStack.with(flow: Self.flow) { stack, _ in
            for _ in 0..<2 {
                let link = try await open(stack)
                try await stack.message(Command.Refresh.self, after: link)
                try await stack.killAndRestart("ios-coordinator")
            }

            try await stack.bus.publish(DomainEvent.TermsChanged())
            try await stack.screen("terms", on: "ios")
            let refused = try await open(stack)
            try await stack.message(DomainEvent.MessageDiscarded.self) {
                $0.messageID == refused.id && $0.reason.contains("screen 'terms' must be completed first")
            }
            try await stack.bus.send(Command.TermsAccepted(), origin: Origin(platform: "ios"))
            #expect(try await stack.screen("list", on: "ios").state.parked == nil)

            let last = try await open(stack)
            try await stack.message(Command.Refresh.self, after: last)
            let causes = stack.messages.filter { $0.type == Command.Refresh.type }.map(\.attributes.causationID)
            #expect(causes.count == 3 && !causes.contains(refused.id))
        }
    }
}
