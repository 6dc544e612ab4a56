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
import Vocabulary

/// `scripts/golden` has made the states in `Tests/Fixtures/Golden`: all processes were killed in the middle of
/// sessions.
@Suite("State of an earlier version", .timeLimit(.minutes(5)))
struct GoldenStateTests {
    @Test(
        "Stored sessions, deadlines, consumers, dead letters and leases are continued", arguments: ["zeromq", "nats"])
    func onboarding(engine: String) async throws {
        let start = Date()
        try await Self.inCopy(of: engine) { segue, folder in
            let copy = try await segue.shell(
                "sed '/onboarding-service/d' '\(folder)/compose.yaml' >'\(folder)/unanswered.yaml'")
            try #require(copy.status == 0, "\(copy.error)")
            try await TestStack.with(file: "\(folder)/unanswered.yaml") { stack in
                try await deadlineHasPassed(stack)
                try await processesAreGone(since: start, stack)
            }
            try await TestStack.with(file: "\(folder)/compose.yaml") { stack in
                try await sessionsGoOn(stack)
                let deadLetters = try await stack.bus.inspect.deadLetters(of: nil, after: 0, limit: 10)
                #expect(deadLetters.map(\.consumer) == ["music-service"])
                #expect(deadLetters.map(\.message.type) == [Command.PlaylistSelected.type])
                #expect(deadLetters.map(\.message.subject) == ["cleo"])
            }
        }
    }

    @Test(
        "The focus player continues a shuffle, deadlines on two platforms, tokens and a parked link",
        arguments: ["zeromq", "nats"])
    func focusPlayer(engine: String) async throws {
        let start = Date()
        try await Self.inCopy(of: "focus-player/\(engine)") { _, folder in
            try await Story.tell(path: "\(folder)/compose.yaml") { story in
                let ann = story.of("ann")
                try await shuffleIsDone(ann)
                try await deadlinesHavePassed(since: start, ann)
                try await linkHasExpired(story.of("ben"))
                try await goOnToTheEnd(ann)
            }
        }
    }

    /// Runs `body` with a copy of a state, in a folder with the compose file.
    private static func inCopy(
        of state: String, _ body: (_ segue: SegueCommandLine, _ folder: String) async throws -> Void
    ) async throws {
        try await SegueCommandLine.inScratch { segue in
            let folder = "\(segue.directory)/golden/\(state)"
            let copy = try await segue.shell(
                """
                cp -R '\(Repository.path("Tests/Fixtures/Golden"))' golden && cd '\(folder)' && tar -xzf state.tar.gz \
                && echo 'SOURCE=\(Repository.path(""))' >.env
                """)
            try #require(copy.status == 0, "\(copy.error)")
            try await body(segue, folder)
        }
    }

    // MARK: Onboarding

    /// Nobody answers the last command of Ben.
    private func deadlineHasPassed(_ stack: TestStack) async throws {
        let state = try await stack.screen("problem", on: "onboarding", subject: "ben").state
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
        try await stack.screen("problem", on: "onboarding", subject: "ben")

        let state = try await stack.screen("plan", on: "onboarding", subject: "ann").state
        #expect(state.path.map(\.screen) == ["age", "plan"])
        try await stack.bus.send(Command.PlanChosen(plan: "solo"), subject: "ann")
        try await stack.screen("final", on: "onboarding", subject: "ann")
        try await stack.document(Document.OnboardingDraft.self, subject: "ann") {
            $0.draft.name == "Ann" && $0.draft.age == 35 && $0.draft.plan == .solo
        }
        let answers = stack.messages.filter { $0.type == DomainEvent.OnboardingSaved.type }.map(\.subject)
        #expect(answers.sorted() == ["ann", "ann", "ann", "ben", "ben"], "nothing is handled again")
    }

    // MARK: Focus player

    /// The playlist that was chosen last is shuffled, with a token that has to be renewed first. It is the second one,
    /// and the first one is not shuffled again.
    private func shuffleIsDone(_ story: Story) async throws {
        let playlist = try await story.stack.document(Document.GeneratedPlaylist.self, subject: story.session) {
            $0.playlistID == "MorningPages" && $0.status == .ready
        }
        #expect(playlist.songs.count == 7)
        try await story.stack.message(DomainEvent.PlaylistShuffled.self, subject: story.session) {
            $0.playlistID == "MorningPages"
        }
        let shuffled = try story.stack.messages.filter { $0.type == DomainEvent.PlaylistShuffled.type }
            .map { try $0.decode(DomainEvent.PlaylistShuffled.self).playlistID }
        #expect(shuffled == ["DeepFocus", "MorningPages"])
        try await story.isInDetail("MorningPages")
        let path = try await story.stack.screen("generatedPlaylist", on: "ios", subject: story.session).state.path
        #expect(path.map(\.arguments["playlistID"]) == ["MorningPages"])
    }

    /// The sheet on one platform and the popover on the other one had been dismissed, and no view had said that they
    /// were gone.
    private func deadlinesHavePassed(since start: Date, _ story: Story) async throws {
        for platform in ["ios", "mac"] {
            try await story.stack.document(Document.NavigationState.self, key: platform, subject: story.session) {
                $0.snapshot.state.leaving.isEmpty
            }
        }
        let former = story.stack.messages.filter { message in
            message.type == Document.Deadline.type && message.subject == story.session
                && message.attributes.time < start
        }
        let pending = Dictionary(former.map { ($0.attributes.key, $0) }) { $1 }.filter { !$0.value.isTombstone }
        #expect(pending.keys.compactMap { $0?.prefix(3) }.sorted() == ["ios", "ios", "mac", "mac"])
        try await story.stack.until("the deadlines are withdrawn") { messages in
            pending.keys.allSatisfy { key in
                messages.last { $0.type == Document.Deadline.type && $0.attributes.key == key }?.isTombstone == true
            }
        }
    }

    /// The link of Ben waited for a log-in for longer than it may.
    private func linkHasExpired(_ story: Story) async throws {
        try await story.logIn()
        try await story.stack.message(DomainEvent.MessageDiscarded.self, subject: story.session) {
            $0.reason.contains("expired")
        }
    }

    private func goOnToTheEnd(_ story: Story) async throws {
        try await story.control("devices", "action=deactivate")
        try await story.bus.send(Command.PlayOnSpotifyRequested(), subject: story.session)
        _ = try await story.presented(on: "ios", "deviceActivation")
        _ = try await story.presented(on: "mac", "deviceActivation")
        let choice = try await story.bus.send(
            Command.DeviceSelected(deviceID: "work-laptop"), subject: story.session)
        try await story.stack.message(DomainEvent.PlaybackStarted.self, after: choice, subject: story.session)
        try await story.bus.send(Command.SpotifyDeauthorizationRequested(), subject: story.session)
        try await story.bothAreAt("serviceSelection")
    }
}
