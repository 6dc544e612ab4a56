import Contracts
import EventBus
import Navigation
import SegueTestSupport
import TestSupport
import Testing

extension Command {
    fileprivate struct Skipped: CommandMessage {}
}

@Suite("Rules that wait, and killed processes", .timeLimit(.minutes(3)))
struct WaitTests {
    private static let flow = """
        name: news
        version: 1
        platform: ios
        start: splash
        screens:
          splash: { sends: [command.Skipped] }
          list:
        transitions:
          - { after: 1s, when: { root: splash }, do: [{ setRoot: list }] }
          - { on: command.Skipped, do: [{ setRoot: list }] }
        """

    @Test("A wait continues after the coordinator is killed, and its actions are taken once")
    func killed() async throws {
        try await TestStack.with(flow: Self.flow) { stack, _ in
            // The user of this session does not wait.
            try await stack.bus.publish(DomainEvent.LaunchFinished(), subject: "hasty")
            try await stack.document(Document.NavigationState.self, key: "ios", subject: "hasty") {
                !$0.snapshot.state.waits.isEmpty
            }
            try await stack.bus.send(Command.Skipped(), subject: "hasty")

            try await stack.bus.publish(DomainEvent.LaunchFinished())
            let wait = try await stack.document(Document.NavigationState.self, key: "ios") {
                !$0.snapshot.state.waits.isEmpty
            }.snapshot.state.waits[0].id
            try await stack.killAndRestart("ios-coordinator")
            let list = try await stack.screen("list", on: "ios")
            #expect(list.rule == "transitions[0]" && list.state.waits.isEmpty)

            #expect(try await stack.screen("list", on: "ios", subject: "hasty").rule == "transitions[1]")
            try await stack.until("no wait is left") { messages in
                let deadlines = messages.filter {
                    $0.type == Document.Deadline.type && $0.attributes.key?.hasPrefix("ios.attempt.") == true
                }
                return Dictionary(deadlines.map { (DocumentName($0), $0.isTombstone) }) { $1 }.values.allSatisfy { $0 }
            }
            let passed = try stack.messages.filter { $0.type == DomainEvent.GuardDeadlinePassed.type }
                .map { try $0.decode(DomainEvent.GuardDeadlinePassed.self).attempt }
            #expect(passed == [wait])
        }
    }
}
