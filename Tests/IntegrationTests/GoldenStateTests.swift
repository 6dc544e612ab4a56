import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Navigation
import Onboarding
import SegueTestSupport
import Support
import Testing
import Vocabulary

/// `scripts/golden` has made the state in `Tests/Fixtures/Golden`: all processes were killed while a session waited for
/// an answer.
@Suite("The state that an earlier version has stored", .timeLimit(.minutes(4)))
struct GoldenStateTests {
    @Test("is continued: sessions, deadlines, consumers, dead letters and leases", arguments: ["zeromq", "nats"])
    func continued(engine: String) async throws {
        let start = Date()
        try await SegueCommandLine.inScratch { segue in
            let folder = "\(segue.directory)/golden/\(engine)"
            let copy = try await segue.shell(
                """
                cp -R '\(Repository.path("Tests/Fixtures/Golden"))' golden && cd '\(folder)' && tar -xzf state.tar.gz \
                && echo 'SOURCE=\(Repository.path(""))' >.env && sed '/onboarding-service/d' compose.yaml >unanswered.yaml
                """)
            try #require(copy.status == 0, "\(copy.error)")
            try await TestStack.with(file: "\(folder)/unanswered.yaml") { stack in
                try await deadlineHasPassed(stack)
                try await processesAreGone(since: start, stack)
            }
            try await TestStack.with(file: "\(folder)/compose.yaml") { stack in
                try await sessionsGoOn(stack)
                let letters = try await stack.bus.deadLetters(of: nil, after: 0, limit: 10)
                #expect(letters.map(\.consumer) == ["music-service"])
                #expect(letters.map(\.message.type) == [Command.PlaylistSelected.type])
                #expect(letters.map(\.message.subject) == ["cleo"])
            }
        }
    }

    /// Nobody answers the last command of Ben.
    private func deadlineHasPassed(_ stack: TestStack) async throws {
        let state = try await stack.isAt("problem", on: "onboarding", in: "ben").state
        #expect(state.path.map(\.screen) == ["age"] && state.attempt == nil)
    }

    private func processesAreGone(since start: Date, _ stack: TestStack) async throws {
        let former = Set(
            stack.messages.filter { $0.type == Document.Presence.type && $0.attributes.time < start }
                .map(\.attributes.key))
        #expect(former.count >= 3)
        try await stack.until("the presences of the killed processes are withdrawn") { messages in
            former.allSatisfy { key in
                messages.last { $0.type == Document.Presence.type && $0.attributes.key == key }?.isTombstone == true
            }
        }
    }

    private func sessionsGoOn(_ stack: TestStack) async throws {
        // The waiting command of Ben is handled, too late for his session.
        try await stack.document(Document.OnboardingDraft.self, subject: "ben") { $0.draft.age == 28 }
        try await stack.isAt("problem", on: "onboarding", in: "ben")

        let state = try await stack.isAt("plan", on: "onboarding", in: "ann").state
        #expect(state.path.map(\.screen) == ["age", "plan"])
        try await stack.bus.send(Command.PlanChosen(plan: "solo"), subject: "ann")
        try await stack.isAt("final", on: "onboarding", in: "ann")
        try await stack.document(Document.OnboardingDraft.self, subject: "ann") {
            $0.draft.name == "Ann" && $0.draft.age == 35 && $0.draft.plan == .solo
        }
        let answers = stack.messages.filter { $0.type == DomainEvent.OnboardingSaved.type }.map(\.subject)
        #expect(answers.sorted() == ["ann", "ann", "ann", "ben", "ben"], "nothing is handled again")
    }
}
