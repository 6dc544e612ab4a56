import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Navigation
import SegueTestSupport
import TestSupport
import Testing
import Vocabulary

@Suite("Recorded story")
struct RecordingTests {
    private static let coordinators: [TestService] = [.broker] + ["ios", "mac"].map(coordinator)

    private static func coordinator(of platform: String) -> TestService {
        TestService(
            "\(platform)-coordinator",
            command: ["navigation-coordinator", "--flow", Repository.path("config/flows/\(platform).yaml")],
            after: ["broker"])
    }

    /// All states of each platform.
    private static func states(in messages: [Envelope]) throws -> [String: [NavigationSnapshot]] {
        let documents = try messages.filter { $0.type == Document.NavigationState.type }.map {
            try $0.decode(Document.NavigationState.self).snapshot
        }
        return Dictionary(grouping: documents, by: \.platform)
    }

    /// A story in which a coordinator is killed, and in which one coordinator publishes an input of the other: a
    /// command that a link sends after the log-in.
    private static func tell(_ story: Story) async throws {
        try await story.launch()
        try await story.bus.publish(
            DomainEvent.DeepLinkReceived(url: "focus://playlist/EndlessFocus"), origin: Origin(platform: "ios"))
        try await story.stack.document(Document.NavigationState.self, key: "ios") { $0.snapshot.state.parked != nil }
        try await story.processes.killAndRestart("ios-coordinator")
        try await story.browser.decide("approve", at: try await story.requestAuthorization())
        try await story.stack.document(Document.GeneratedPlaylist.self) { $0.status == .ready }
        try await story.isInDetail("EndlessFocus")
        try await story.control("devices", "action=deactivate")
        try await story.bus.send(Command.PlayOnSpotifyRequested())
        let sheet = try #require(try await story.presented(on: "ios", "deviceActivation"))
        try await story.bus.send(
            Command.PresentationDismissed(instance: sheet.instance.id), origin: Origin(platform: "ios"))
        try await story.bus.send(Command.SpotifyDeauthorizationRequested())
        try await story.bothAreAt("serviceSelection")
        // No view reports that screens are gone, so the coordinators report it after some time.
        for platform in ["ios", "mac"] {
            try await story.stack.document(Document.NavigationState.self, key: platform) {
                $0.snapshot.state.leaving.isEmpty
            }
        }
    }

    @Test(
        "New coordinators that receive the recording reach the same states, on either engine",
        .timeLimit(.minutes(5)), arguments: [Story.Shape.processes, .nats])
    func replay(shape: Story.Shape) async throws {
        try await SegueCommandLine.inScratch { segue in
            let recorded = try await Self.record(in: shape, with: segue)
            #expect(recorded.values.allSatisfy { $0.count > 10 })
            for platform in ["ios", "mac"] {
                let run = try await segue(
                    "flow", "run", Repository.path("config/flows/\(platform).yaml"), "--recording", "story.jsonl")
                #expect(run.status == 0 && run.error.isEmpty && run.lines.count > 10, "\(run.output)\(run.error)")
            }
            for engine in BusEngine.allCases {
                try await TestStack.with(Self.coordinators, engine: engine.ofStack) { stack in
                    let replay = try await segue(
                        "replay", "story.jsonl", "--speed", "max", "--bus", stack.busAddress)
                    try #require(replay.status == 0, "\(replay.error)")
                    #expect(
                        replay.error.contains("messages sent in") && replay.errorLines.count == 1, "\(replay.error)")
                    try await stack.until("the states are the recorded ones") { messages in
                        (try? Self.states(in: messages)) == recorded
                    }
                }
            }
        }
    }

    @Test("A recording can be published twice on one bus, the second time with new ids", .timeLimit(.minutes(5)))
    func newIDs() async throws {
        try await SegueCommandLine.inScratch { segue in
            _ = try await Self.record(in: .processes, with: segue)
            try await TestStack.with(Self.coordinators) { stack in
                for arguments in [[], ["--new-ids", "--remap", "subject:default=second"]] {
                    let replay = try await segue.run(
                        ["replay", "story.jsonl", "--speed", "max", "--bus", stack.busAddress] + arguments)
                    try #require(replay.status == 0 && replay.errorLines.count == 1, "\(replay.error)")
                }
                for platform in ["ios", "mac"] {
                    let first = try await stack.document(Document.NavigationState.self, key: platform) {
                        $0.snapshot.state.top.screen == "serviceSelection" && $0.snapshot.state.leaving.isEmpty
                    }.snapshot
                    let second = try await stack.document(
                        Document.NavigationState.self, key: platform, subject: "second"
                    ) { $0.snapshot.revision == first.revision }.snapshot
                    #expect(second.state == first.state)
                    #expect(second.cause?.dropFirst(9) == first.cause?[...] && second.cause != first.cause)
                }
            }
        }
    }

    /// Records the story in `story.jsonl`.
    /// - Returns: The states of the story.
    private static func record(
        in shape: Story.Shape, with segue: SegueCommandLine
    ) async throws -> [String: [NavigationSnapshot]] {
        let file = shape == .nats ? "compose/nats.yaml" : "compose/default.yaml"
        return try await Story.tell(file: file) { story in
            try await tell(story)
            let record = try await segue(
                "record", "story.jsonl", "--since", "beginning", "--until", "end", "--bus",
                try story.processes.busAddress)
            try #require(record.status == 0, "\(record.error)")
            return try states(in: story.stack.messages)
        }
    }
}
