import Navigation
import SeededRandom

/// A random history of a session of the focus player: what a restless user, two platforms, slow views and a moody
/// service could send, in any order.
struct History {
    private var random: SeededGenerator
    private var count = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// The next message, about instances that stand, are leaving, are long gone or never were.
    mutating func next(for state: NavigationState) -> Machine.Input {
        count += 1
        let known = state.standing.map(\.id) + state.leaving.map(\.id) + ["launch-1", "generatedPlaylist-4", "ghost-9"]
        let instance = known.randomElement(using: &random) ?? ""
        let platform = [nil, "ios", "mac"].randomElement(using: &random) ?? nil
        let isReport = Bool.random(using: &random)
        let (type, data) = isReport ? report(about: instance) : message()
        let isFromScreen = Bool.random(using: &random)
        return Machine.Input(
            id: "m\(count)",
            type: type,
            data: data,
            // Six minutes a message: a link that waits for ten is now followed, now not.
            attributes: Machine.Attributes(
                platform: platform, instance: isFromScreen ? instance : nil, time: count * 360_000)
        )
    }

    private mutating func report(about instance: String) -> (String, JSONValue) {
        let names = [
            "BackStarted", "BackCancelled", "BackCompleted", "PresentationDismissed", "AlertAnswered", "ScreenGone",
            "ScreenDisplayed", "TabSelected",
        ]
        let button = ["open", "cancel", "none"].randomElement(using: &random) ?? ""
        let data: JSONValue = [
            "instance": .string(instance), "button": .string(button), "tab": "x",
            "revision": .integer(Int.random(in: 0...20, using: &random)),
        ]
        return ("command." + (names.randomElement(using: &random) ?? ""), data)
    }

    private mutating func message() -> (String, JSONValue) {
        let messages: [(String, JSONValue)] = [
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
        ]
        return messages.randomElement(using: &random) ?? ("", [:])
    }
}
