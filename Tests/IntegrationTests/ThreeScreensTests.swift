import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Navigation
import SegueTestSupport
import TestSupport
import Testing
import ThreeScreens

@Suite("Three screens with real processes")
struct ThreeScreensTests {
    private static let platform = "three-screens"
    private static let services: [TestService] = [
        .broker, TestService("timer-service", command: ["timer-service", "--interval", "50"], after: ["broker"]),
        TestService(
            "three-screens-coordinator",
            command: ["navigation-coordinator", "--flow", Repository.path("config/flows/examples/three-screens.yaml")],
            after: ["broker"]),
    ]

    private func origin(_ instance: String) -> Origin {
        Origin(platform: Self.platform, device: "phone", instance: instance)
    }

    private func snapshot(
        _ stack: TestStack, where fits: @escaping @Sendable (NavigationState) -> Bool
    ) async throws -> NavigationState {
        try await stack.document(Document.NavigationState.self, key: Self.platform) { fits($0.snapshot.state) }
            .snapshot.state
    }

    /// Opens the second screen in a tab, and starts its timer.
    private func openSecond(_ stack: TestStack, on tab: String) async throws -> String {
        let root = try await snapshot(stack) { $0.root.container != nil }.root.instance.id
        try await stack.bus.send(Command.TabSelected(instance: root, tab: tab), lifetime: nil)
        _ = try await snapshot(stack) { $0.root.container?.selectedTab == tab }
        try await stack.bus.send(Command.SecondRequested())
        let second = try await snapshot(stack) { $0.top.screen == "second" && $0.frontPath.count == 1 }.top.id
        try await stack.bus.send(Command.TimerRequested(), origin: origin(second))
        try await ticks(stack, second)
        return second
    }

    /// Waits until the timer has counted at least two more ticks.
    private func ticks(_ stack: TestStack, _ instance: String) async throws {
        let now = try await stack.document(Document.Timer.self, key: instance) { _ in true }.ticks
        try await stack.document(Document.Timer.self, key: instance) { $0.ticks > now + 1 }
    }

    private func isWithdrawn(_ stack: TestStack, _ instance: String) async throws {
        try await stack.until("the timer of \(instance) is withdrawn") { messages in
            messages.last { $0.type == Document.Timer.type && $0.attributes.key == instance }?.isTombstone == true
        }
    }

    @Test(
        "A timer stops with its screen, that of another screen continues, and a killed service resumes",
        .timeLimit(.minutes(3)))
    func story() async throws {
        try await TestStack.with(Self.services) { stack in
            try await stack.bus.publish(DomainEvent.LaunchFinished())
            let sibling = try await openSecond(stack, on: "right")

            // The screen is swiped away.
            var second = try await openSecond(stack, on: "left")
            try await stack.bus.send(Command.BackCompleted(instance: second), lifetime: nil)
            try await isWithdrawn(stack, second)

            // The screen is popped by a rule while the service is frozen; then the service is killed.
            second = try await openSecond(stack, on: "left")
            try await stack.freeze("timer-service")
            try await stack.bus.send(Command.SecondClosed())
            _ = try await snapshot(stack) { $0.frontPath.isEmpty }
            try await stack.killAndRestart("timer-service")
            try await isWithdrawn(stack, second)
            try await ticks(stack, sibling)

            // From the third screen back to the first in one step.
            second = try await openSecond(stack, on: "left")
            try await stack.bus.send(Command.ThirdRequested())
            _ = try await snapshot(stack) { $0.top.screen == "third" }
            try await stack.bus.send(Command.FirstRequested())
            try await isWithdrawn(stack, second)
            try await ticks(stack, sibling)

            // The root is replaced, and both second screens leave.
            second = try await openSecond(stack, on: "left")
            try await stack.bus.send(Command.StartedOver())
            try await isWithdrawn(stack, second)
            try await isWithdrawn(stack, sibling)
            let late = try await stack.bus.send(Command.TimerRequested(), origin: origin(second))
            try await stack.message(DomainEvent.MessageDiscarded.self, after: late) { $0.messageID == late.id }
            #expect(try await stack.bus.documents(matching: [.type(Document.Timer.self)]).isEmpty)
        }
    }
}

extension Command {
    fileprivate struct SecondRequested: CommandMessage {}
    fileprivate struct ThirdRequested: CommandMessage {}
    fileprivate struct FirstRequested: CommandMessage {}
    fileprivate struct SecondClosed: CommandMessage {}
    fileprivate struct StartedOver: CommandMessage {}
}
