import FlowFiles
import Foundation
import Navigation
import SampleFlows
import Testing

/// A change of the focus player's flow on a phone: passages of the file, each with what replaces it.
struct ReleaseEdit: CustomTestStringConvertible {
    let name: String
    let changes: [(passage: String, replacement: String)]

    init(_ name: String, _ changes: (String, String)...) {
        self.name = name
        self.changes = changes.map { (passage: $0.0, replacement: $0.1) }
    }

    var testDescription: String { name }

    /// The changed flow. Each passage must be in the file.
    func apply() throws -> Flow {
        var text = try ShippedFlows.text("ios")
        for (passage, replacement) in changes {
            let parts = text.components(separatedBy: passage)
            try #require(parts.count > 1, "the flow has no passage '\(passage)'")
            text = parts.joined(separator: replacement)
        }
        return try Flow(yaml: text, file: "ios.yaml")
    }
}

extension ReleaseEdit {
    /// Changes that break what people did, or sessions that are open.
    static let breaking = [
        ReleaseEdit("A screen has another name", ("nowPlaying", "player")),
        ReleaseEdit("The launch leads nowhere", ("when: { root: launch }\n", "when: { root: premiumRequired }\n")),
        ReleaseEdit("The log-in leads back", ("setRoot: playlistSelection", "setRoot: serviceSelection")),
        ReleaseEdit("A value is misspelt", ("status: authorized", "status: authorised")),
        ReleaseEdit(
            "A log-out is forgotten",
            ("unless: { root: [launch, serviceSelection] }", "unless: { root: [launch, playlistSelection] }")),
        ReleaseEdit("A log-out comes too early", ("unless: { root: [launch, serviceSelection] }", "unless: {}")),
        ReleaseEdit("Another URL opens", ("openURL: ${data.url}", "openURL: https://example.com")),
        ReleaseEdit(
            "The consent opens on all devices",
            (
                "origin: own\n    do:\n      - openURL: ${data.url}\n\n  # Playlists",
                "do:\n      - openURL: ${data.url}\n\n  # Playlists"
            )),
        ReleaseEdit("A path grows", ("replacePath:", "push:")),
        ReleaseEdit(
            "A screen opens twice",
            (
                """
                    when: { root: playlistSelection }
                    unless: { shown: { screen: generatedPlaylist, arguments: { playlistID: "${data.playlistID}" } } }
                """, "    when: { root: playlistSelection }"
            )),
        ReleaseEdit("A sheet stays", ("- dismissAll\n", "")),
        ReleaseEdit(
            "A screen has another argument",
            (
                "arguments: { playlistID: \"${data.playlistID}\" } }\n\n  # Playing",
                "arguments: { playlistID: \"none\" } }\n\n  # Playing"
            )),
        ReleaseEdit(
            "A sheet covers the whole screen",
            (
                "screen: deviceActivation\n          style: sheet\n          detents: [medium]\n          dragIndicator: true",
                "screen: deviceActivation\n          style: fullScreen"
            )),
        ReleaseEdit(
            "A sheet opens twice", ("unless: { presented: [deviceActivation, premiumRequired] }", "unless: {}")),
        ReleaseEdit(
            "A rule is gone", ("- on: command.DeviceSelected", "- on: command.DevicePaired"),
            ("sends: [command.DeviceSelected", "sends: [command.DevicePaired, command.DeviceSelected")),
        ReleaseEdit("A button sends nothing", (", sends: command.DidRequestOpenPlaylistOnSpotify }", " }")),
        ReleaseEdit("A button has another name", ("id: open,", "id: spotify,")),
        ReleaseEdit(
            "A condition names another screen",
            (
                "on: command.NowPlayingRequested\n    when: { shown: generatedPlaylist }",
                "on: command.NowPlayingRequested\n    when: { shown: playlistSelection }"
            )),
        ReleaseEdit("A link has another URL", ("focus://playlist/", "focus://list/")),
        ReleaseEdit(
            "A link sends nothing",
            ("    send: { type: command.PlaylistSelected, data: { playlistID: \"${url.playlistID}\" } }\n", "")),
        ReleaseEdit(
            "A screen does not send a command any more",
            ("sends: [command.PlayOnSpotifyRequested, ", "sends: [")),
    ]

    /// Changes after which everybody ends where they ended before.
    static let harmless = [
        ReleaseEdit("A comment", ("# Playing.", "# Playing a list.")),
        ReleaseEdit("A version", ("version: 1", "version: 2")),
        ReleaseEdit("A name of the flow", ("name: focus-player", "name: focus")),
        ReleaseEdit(
            "Actions on one line", ("do:\n      - setRoot: serviceSelection", "do: [{ setRoot: serviceSelection }]"),
            ("do:\n      - dismiss: deviceActivation", "do: [{ dismiss: deviceActivation }]")),
        ReleaseEdit(
            "A new screen, to which a new command leads",
            ("  premiumRequired:\n", "  premiumRequired:\n  settings:\n"),
            ("sends: [command.PlaylistSelected, ", "sends: [command.SettingsRequested, command.PlaylistSelected, "),
            ("  # Playing.", "  - on: command.SettingsRequested\n    do: [{ push: settings }]\n\n  # Playing.")),
        ReleaseEdit(
            "Titles of screens", ("title: Choose a music service", "title: Music"), ("title: Playlists", "title: Lists")
        ),
        ReleaseEdit(
            "The texts of an alert", ("title: Spotify Premium required", "title: Premium"),
            ("title: Cancel", "title: Not now")),
        ReleaseEdit(
            "A further button",
            (
                "- { id: cancel, title: Cancel }",
                "- { id: cancel, title: Cancel }\n            - { id: later, title: Later }"
            )),
        ReleaseEdit("The heights of a sheet", ("detents: [medium]", "detents: [medium, large]")),
        ReleaseEdit(
            "Rules that exclude each other, in another order",
            (
                """
                  - on: event.SpotifyAuthorizationUpdated
                    where: { status: deauthorized }
                    # Without an account no other screen works, so all of them are dismissed.
                    unless: { root: [launch, serviceSelection] }
                    do:
                      - setRoot: serviceSelection

                  - on: event.SpotifyAuthURLGenerated
                    # The user gives consent on the device that requested it, not on all devices of the session.
                    origin: own
                    do:
                      - openURL: ${data.url}

                """,
                """
                  - on: event.SpotifyAuthURLGenerated
                    origin: own
                    do:
                      - openURL: ${data.url}

                  - on: event.SpotifyAuthorizationUpdated
                    where: { status: deauthorized }
                    unless: { root: [launch, serviceSelection] }
                    do:
                      - setRoot: serviceSelection

                """
            )),
        ReleaseEdit(
            "Screens in another order", ("root: [launch, serviceSelection]", "root: [serviceSelection, launch]")),
        ReleaseEdit(
            "A condition, said in another way",
            ("unless: { root: [launch, serviceSelection] }", "when: { root: playlistSelection }")),
        ReleaseEdit(
            "A rule in two parts",
            (
                "where: { status: authorized }\n",
                "where: { status: authorized }\n    when: { root: launch }\n    do: [{ setRoot: playlistSelection }]\n\n  - on: event.SpotifyAuthorizationUpdated\n    where: { status: authorized }\n"
            )),
        ReleaseEdit(
            "A condition that always holds",
            (
                "on: command.DeviceSelected\n    when: { presented: deviceActivation }",
                "on: command.DeviceSelected\n    when: { presented: deviceActivation, path: generatedPlaylist }"
            )),
        ReleaseEdit(
            "Another way to the same screen",
            ("- setRoot: playlistSelection", "- setRoot: serviceSelection\n      - setRoot: playlistSelection")),
        ReleaseEdit("A further event that nothing has to answer", ("ignores: [", "ignores: [event.Welcome, ")),
        ReleaseEdit(
            "A rule on an event that has never come",
            ("  # Playing.", "  - on: event.AccountClosed\n    do: [{ setRoot: serviceSelection }]\n\n  # Playing.")),
        ReleaseEdit(
            "A property", ("# A link leads", "properties:\n  - never: { presented: launch }\n\n# A link leads")),
        ReleaseEdit("A link that waits for longer", ("park: 10m", "park: 20m")),
        ReleaseEdit(
            "A further link",
            (
                "links:\n",
                "links:\n  - url: focus://playlists\n    when: { root: playlistSelection }\n    to: { root: playlistSelection }\n"
            )),
        ReleaseEdit(
            "A command of a screen that nobody has sent",
            (
                "sends: [command.DeviceSelected, command.OpenAnotherAppRequested]",
                "sends: [command.DeviceSelected, command.OpenAnotherAppRequested, command.PauseRequested]"
            )),
    ]

    /// What people did: each is a session, as the steps of a scenario that continue those of another one.
    static let stories: [[String]] = {
        let launch = ["- send: event.LaunchFinished"]
        let authorized = "- send: { type: event.SpotifyAuthorizationUpdated, data: { status: authorized } }"
        let deauthorized = "- send: { type: event.SpotifyAuthorizationUpdated, data: { status: deauthorized } }"
        let consent =
            "- send: { type: event.SpotifyAuthURLGenerated, platform: ios, data: { url: 'https://accounts.spotify.com' } }"
        let library =
            launch + [
                "- send: { type: command.SpotifyAuthorizationRequested, from: serviceSelection }", consent, authorized,
            ]
        func choose(_ id: String) -> String {
            "- send: { type: command.PlaylistSelected, from: playlistSelection, data: { playlistID: \(id) } }"
        }
        func chooseElsewhere(_ id: String) -> String {
            "- send: { type: command.PlaylistSelected, platform: mac, data: { playlistID: \(id) } }"
        }
        let playlist = library + [choose("p1")]
        let play = playlist + ["- send: { type: command.PlayOnSpotifyRequested, from: generatedPlaylist }"]
        let device = play + ["- send: event.SpotifyDeviceActivationRequired"]
        let premium = play + ["- send: event.SpotifyPremiumOnlyActionAttempted"]
        let player = playlist + ["- send: { type: command.NowPlayingRequested, from: generatedPlaylist }"]
        return [
            [authorized] + launch, [deauthorized] + launch, library,
            library + [consent.replacing("ios", with: "mac")],
            playlist + [chooseElsewhere("p1")], playlist + [chooseElsewhere("p2")],
            playlist + ["- back", choose("p2")], playlist + [deauthorized],
            playlist + ["- send: { type: command.DidRequestOpenPlaylistOnSpotify, from: generatedPlaylist }"],
            device, device + ["- send: event.SpotifyDeviceActivationRequired"],
            device + ["- send: { type: command.DeviceSelected, from: deviceActivation, data: { deviceID: d1 } }"],
            device + [
                "- send: { type: command.OpenAnotherAppRequested, from: deviceActivation, data: { url: 'spotify:' } }"
            ],
            device + [chooseElsewhere("p2")], device + ["- dismiss", "- back"],
            premium, premium + ["- answer: open"], premium + ["- answer: cancel"],
            player, player + ["- dismiss"], player + [chooseElsewhere("p2")],
            ["- send: { type: event.DeepLinkReceived, data: { url: 'focus://playlist/p9' } }"] + launch + [authorized],
            library + ["- send: { type: event.DeepLinkReceived, data: { url: 'focus://playlist/p9' } }", "- back"],
        ]
    }()
}
