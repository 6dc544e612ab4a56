import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Navigation
import Onboarding
import SegueTestSupport
import Support
import TestSupport
import Testing

@Suite("Onboarding with real processes")
struct OnboardingTests {
    private static let services: [TestService] = [
        .broker, TestService("onboarding-service", after: ["broker"]),
        TestService(
            "onboarding-coordinator",
            command: ["navigation-coordinator", "--flow", Repository.path("config/flows/examples/onboarding.yaml")],
            after: ["broker"]),
    ]

    @Test(
        "The draft survives a refusal, a killed service and a change of the branch", .timeLimit(.minutes(3))
    )
    func story() async throws {
        try await TestStack.with(Self.services) { stack in
            try await stack.screen("name", on: "onboarding")
            let refused = try await stack.bus.send(Command.NameEntered(name: " "))
            try await stack.screen("problem", on: "onboarding")
            let refusal = try await stack.message(DomainEvent.OnboardingRefused.self).message
            #expect(refusal.problem == "Your name is missing.")
            let alert = try await stack.screen("problem", on: "onboarding").state
            #expect(alert.presentations.map(\.options.message) == ["Your name is missing."])
            #expect(alert.attempt == nil)
            try await stack.bus.send(Command.AlertAnswered(instance: alert.top.id, button: "ok"))
            try await stack.message(DomainEvent.ScreenDismissed.self, after: refused) { $0.instance == alert.top.id }

            try await stack.bus.send(Command.NameEntered(name: "Ann"))
            try await stack.screen("age", on: "onboarding")
            // The service receives the command while it is frozen, and is killed before it can answer.
            try await stack.freeze("onboarding-service")
            try await stack.bus.send(Command.AgeEntered(age: 35))
            try await stack.message(Document.NavigationState.self) {
                $0.snapshot.state.attempt?.message.type == "command.AgeEntered"
            }
            try await stack.killAndRestart("onboarding-service")
            try await stack.screen("plan", on: "onboarding")
            try await stack.document(Document.OnboardingDraft.self) { $0.draft.name == "Ann" && $0.draft.age == 35 }

            try await stack.bus.send(Command.PlanChosen(plan: "team"))
            let team = try await stack.screen("team", on: "onboarding").state.top.id
            try await stack.bus.send(Command.BackCompleted(instance: team))
            try await stack.screen("plan", on: "onboarding")
            try await stack.document(Document.OnboardingDraft.self) { $0.draft.plan == .team }
            try await stack.bus.send(Command.PlanChosen(plan: "solo"))
            let state = try await stack.screen("final", on: "onboarding").state
            #expect(state.path.map(\.screen) == ["age", "plan", "final"])
            #expect(try await stack.message(DomainEvent.OnboardingSaved.self) { $0.isComplete }.message.isComplete)
        }
    }
}
