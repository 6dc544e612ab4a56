import Foundation
import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

/// A random sequence of messages in a session: messages that an impatient user, two platforms, slow views and an
/// unreliable service could send.
struct History {
    /// The messages besides views' reports.
    struct Vocabulary {
        var platforms: [String?]
        var instances: [String]
        var buttons = ["open", "cancel", "none"]
        var tabs = ["x"]
        var messages: [(type: String, data: JSONValue)]
    }

    private let vocabulary: Vocabulary
    private var random: SeededGenerator
    private var count = 0

    init(seed: UInt64, vocabulary: Vocabulary = .focusPlayer) {
        random = SeededGenerator(seed: seed)
        self.vocabulary = vocabulary
    }

    /// The next message. The instance that it names may be open, leaving, long gone or unknown.
    mutating func next(for state: NavigationState) -> Machine.Input {
        count += 1
        let known = state.open.map(\.id) + state.leaving.map(\.id) + vocabulary.instances
        let instance = known.randomElement(using: &random) ?? ""
        let platform = vocabulary.platforms.randomElement(using: &random) ?? nil
        let isReport = Bool.random(using: &random)
        let message = vocabulary.messages.randomElement(using: &random) ?? ("", [:])
        let (type, data) = isReport ? report(about: instance) : message
        let isFromScreen = Bool.random(using: &random)
        let isAnswer = Bool.random(using: &random)
        let attempt = state.attempt.map { JSONValue.string($0.id) } ?? "ghost"
        return Machine.Input(
            id: "m\(count)",
            type: type,
            data: type == Machine.deadlinePassed ? ["attempt": attempt] : data,
            // Six minutes pass between messages, so some links with a limit of ten minutes are followed and others
            // expire.
            attributes: Machine.Attributes(
                platform: platform, instance: isFromScreen ? instance : nil,
                causationID: isAnswer ? state.attempt?.id : nil, time: count * 360_000)
        )
    }

    private mutating func report(about instance: String) -> (String, JSONValue) {
        let names = [
            "BackStarted", "BackCancelled", "BackCompleted", "PresentationDismissed", "AlertAnswered", "ScreenGone",
            "ScreenDisplayed", "TabSelected",
        ]
        let button = vocabulary.buttons.randomElement(using: &random) ?? ""
        let tab = vocabulary.tabs.randomElement(using: &random) ?? ""
        let data: JSONValue = [
            "instance": .string(instance), "button": .string(button), "tab": .string(tab),
            "revision": .integer(Int.random(in: 0...20, using: &random)),
        ]
        return ("command." + (names.randomElement(using: &random) ?? ""), data)
    }
}

extension History.Vocabulary {
    static let focusPlayer = Self(
        platforms: [nil, "ios", "mac"],
        instances: ["launch-1", "generatedPlaylist-4", "ghost-9"],
        messages: [
            ("event.LaunchFinished", [:]),
            ("event.SpotifyAuthorizationUpdated", ["status": "authorized"]),
            ("event.SpotifyAuthorizationUpdated", ["status": "authorized"]),
            ("event.SpotifyAuthorizationUpdated", ["status": "unauthorized"]),
            ("event.SpotifyAuthorizationUpdated", ["status": "deauthorized"]),
            ("command.PlaylistSelected", ["playlistID": "p1"]),
            ("command.PlaylistSelected", ["playlistID": 2]),
            ("command.PlaylistSelected", [:]),
            ("event.SpotifyDeviceActivationRequired", [:]),
            ("event.SpotifyPremiumOnlyActionAttempted", [:]),
            ("command.DeviceSelected", ["deviceID": "d"]),
            ("command.DidRequestOpenPlaylistOnSpotify", [:]),
            ("command.OpenAnotherAppRequested", ["url": "https://example.org"]),
            ("event.DeepLinkReceived", ["url": "focus://playlist/p1"]),
            ("event.DeepLinkReceived", ["url": "focus://playlist/%70%2F2"]),
            ("event.DeepLinkReceived", ["url": "focus://playlists"]),
            ("event.DeepLinkReceived", ["uri": 1]),
            ("event.Unheard", .null),
        ])

    /// Messages for ``PlaygroundFlow``.
    static let playground = Self(
        platforms: [nil, "playground", "ios"],
        instances: ["a-1", "ghost-9"],
        tabs: ["d", "more", "a", "x"],
        messages: PlaygroundFlow.steps.map { ("event.Go", ["step": .string($0.key)]) }
            + [["push": "b"], ["pop": 2], "pop", "popToRoot", ["push": ["screen": "c", "column": "side"]], "send"]
            .map { ("command.NavigationRequested", ["action": $0]) }
            + guards + guards + guards + links.map { ("event.DeepLinkReceived", ["url": $0]) })

    private static let guards: [(type: String, data: JSONValue)] = [
        ("command.Wait", [:]), ("command.Wait", [:]), ("command.Wait", [:]), ("command.Push", [:]),
        ("event.Answered", ["ok": true, "by": "x"]), ("event.Answered", ["ok": true]),
        ("event.Answered", ["ok": false]), (Machine.deadlinePassed, [:]),
    ]

    private static let links: [JSONValue] = [
        "play:path/1", "play:path/2?q=x", "play:column/1?q=y", "play:column/1", "play:tab/d", "play:tab/more",
        "play:no",
    ]
}

/// Sends one history to two machines, stores and restores one of them from time to time, and expects no difference
/// between them.
func expectNoDifference(
    throughRestartsOf flow: Flow, steps: Int, _ next: (NavigationState) -> Machine.Input
) throws {
    var steady = Machine(flow: flow)
    var restarted = Machine(flow: flow)
    for step in 0..<steps {
        let input = next(steady.state)
        #expect(steady.handle(input) == restarted.handle(input))
        #expect(steady.snapshot == restarted.snapshot)
        guard step.isMultiple(of: 7) else { continue }
        let stored = try JSONEncoder().encode(restarted.snapshot)
        let snapshot = try JSONDecoder().decode(NavigationSnapshot.self, from: stored)
        restarted = Restoration(snapshot, flow: flow).machine
    }
}
