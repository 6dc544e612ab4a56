package import Navigation
import Support

/// The shipped flows of the focus player, written in Swift instead of YAML.
package enum FocusPlayerFlow {
    private static let ignored = ["event.PlaylistsLoaded", "event.PlaylistShuffled", "event.PlaybackChanged"]

    private static let commands: [String: [String: JSONSchema.Property]] = [
        "command.DidRequestOpenPlaylistOnSpotify": [:],
        "command.OpenAnotherAppRequested": ["url": .init(.string)],
    ]

    package static func ios() throws -> Flow {
        try Flow("focus-player", version: 1, platform: "ios", start: "launch", ignores: ignored, commands: commands) {
            screens
            authorization(playlists: .setRoot("playlistSelection"))
            Flow.Transition(
                on: "command.PlaylistSelected",
                when: [.root("playlistSelection"), .path("generatedPlaylist")],
                unless: [.shown(.init(chosenPlaylist))],
                do: [.dismissAll, .replacePath([chosenPlaylist])]
            )
            Flow.Transition(
                on: "command.PlaylistSelected",
                when: [.root("playlistSelection")],
                unless: [.shown(.init(chosenPlaylist))],
                do: [.dismissAll, .push(chosenPlaylist)]
            )
            playing(
                activation: .present(
                    "deviceActivation",
                    as: .sheet,
                    options: PresentationOptions(detents: [.medium], dragIndicator: true)
                ),
                nowPlaying: .present(
                    "nowPlaying",
                    as: .sheet,
                    options: PresentationOptions(detents: [.large], dragIndicator: true)
                )
            )
            playlistLink(to: .init(root: "playlistSelection", path: [linkedPlaylist]))
        }
    }

    package static func mac() throws -> Flow {
        try Flow("focus-player", version: 1, platform: "mac", start: "launch", ignores: ignored, commands: commands) {
            screens
            authorization(playlists: .setRoot("playlistSelection", container: .split))
            Flow.Transition(
                on: "command.PlaylistSelected",
                when: [.root("playlistSelection")],
                unless: [.shown(.init(chosenPlaylist))],
                do: [.dismissAll, .show(chosenPlaylist, column: "detail")]
            )
            playing(
                activation: .present("deviceActivation", as: .popover),
                nowPlaying: .present("nowPlaying", as: .popover)
            )
            playlistLink(
                to: .init(
                    root: .init("playlistSelection", container: .split),
                    columns: ["detail": .init(linkedPlaylist)]
                )
            )
        }
    }

    private static let chosenPlaylist = Flow.Destination.screen(
        "generatedPlaylist", ["playlistID": "${data.playlistID}"])

    private static let linkedPlaylist = Flow.Destination.screen(
        "generatedPlaylist", ["playlistID": "${url.playlistID}"])

    private static func playlistLink(to target: Flow.Link.Target) -> Flow.Link {
        Flow.Link(
            "focus://playlist/{playlistID}",
            when: [.root("playlistSelection")],
            to: target,
            send: [.init("command.PlaylistSelected", ["playlistID": "${url.playlistID}"])]
        )
    }

    @Flow.Builder private static var screens: [Flow.Part] {
        Flow.Screen("launch")
        Flow.Screen(
            "serviceSelection",
            title: "Choose a music service",
            sends: ["command.SpotifyAuthorizationRequested"]
        )
        Flow.Screen(
            "playlistSelection",
            title: "Playlists",
            sends: ["command.PlaylistSelected", "command.SpotifyDeauthorizationRequested"]
        )
        Flow.Screen(
            "generatedPlaylist",
            title: "Focus playlist",
            sends: [
                "command.PlayOnSpotifyRequested", "command.DidRequestOpenPlaylistOnSpotify",
                "command.NowPlayingRequested",
            ]
        )
        Flow.Screen(
            "nowPlaying",
            title: "Now playing",
            sends: [
                "command.NowPlayingRequested", "command.PauseRequested", "command.ResumeRequested",
                "command.NextSongRequested", "command.PreviousSongRequested", "command.SeekRequested",
                "command.VolumeRequested",
            ]
        )
        Flow.Screen(
            "deviceActivation",
            title: "Activate a device",
            sends: ["command.DeviceSelected", "command.OpenAnotherAppRequested"]
        )
        Flow.Screen("premiumRequired")
    }

    @Flow.Builder private static func authorization(playlists: Flow.Action) -> [Flow.Part] {
        Flow.Transition(on: "event.LaunchFinished", when: [.root("launch")], do: [.setRoot("serviceSelection")])
        Flow.Transition(
            on: "event.SpotifyAuthorizationUpdated",
            where: ["status": "authorized"],
            when: [.root("launch", "serviceSelection")],
            do: [playlists]
        )
        Flow.Transition(
            on: "event.SpotifyAuthorizationUpdated",
            where: ["status": "deauthorized"],
            unless: [.root("launch", "serviceSelection")],
            do: [.setRoot("serviceSelection")]
        )
        Flow.Transition(on: "event.SpotifyAuthURLGenerated", origin: .own, do: [.openURL("${data.url}")])
    }

    @Flow.Builder private static func playing(activation: Flow.Action, nowPlaying: Flow.Action) -> [Flow.Part] {
        Flow.Transition(
            on: "event.SpotifyDeviceActivationRequired",
            when: [.shown("generatedPlaylist")],
            unless: [.presented("deviceActivation", "premiumRequired")],
            do: [activation]
        )
        Flow.Transition(
            on: "command.DeviceSelected",
            when: [.presented("deviceActivation")],
            do: [.dismiss("deviceActivation")]
        )
        Flow.Transition(
            on: "event.SpotifyPremiumOnlyActionAttempted",
            when: [.shown("generatedPlaylist")],
            unless: [.presented("premiumRequired")],
            do: [.present("premiumRequired", as: .alert, options: premiumAlert)]
        )
        Flow.Transition(
            on: "command.NowPlayingRequested",
            when: [.shown("generatedPlaylist")],
            unless: [.presented("nowPlaying", "deviceActivation", "premiumRequired")],
            do: [nowPlaying]
        )
        Flow.Transition(
            on: "command.DidRequestOpenPlaylistOnSpotify",
            when: [.shown("generatedPlaylist")],
            origin: .own,
            do: [.openURL("https://open.spotify.com/playlist/${screens.generatedPlaylist.playlistID}")]
        )
        Flow.Transition(on: "command.OpenAnotherAppRequested", origin: .own, do: [.openURL("${data.url}")])
    }

    private static let premiumAlert = PresentationOptions(
        title: "Spotify Premium required",
        message: "Without Premium, Spotify lets no other app start playback. You can play the playlist in Spotify.",
        buttons: [
            AlertButton(id: "open", title: "Open in Spotify", sends: "command.DidRequestOpenPlaylistOnSpotify"),
            AlertButton(id: "cancel", title: "Cancel"),
        ]
    )
}
