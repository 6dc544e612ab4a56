internal import Navigation
internal import Support

/// The flow of a music player on a phone.
enum PlayerFlow {
    static let platform = "phone"

    static func flow() throws -> Flow {
        try Flow("player", version: 1, platform: platform, start: "launch") {
            Flow.Screen("launch")
            Flow.Screen("signIn", sends: ["command.SignInRequested"])
            Flow.Screen("playlists", sends: ["command.PlaylistSelected", "command.SignOutRequested"])
            Flow.Screen("playlist", sends: ["command.PlayRequested", "command.NowPlayingRequested"])
            Flow.Screen("nowPlaying", sends: ["command.NowPlayingRequested", "command.PauseRequested"])
            Flow.Screen("speakers", sends: ["command.SpeakerSelected"])
            account
            playlists
            sheets
        }
    }

    @Flow.Builder private static var account: [Flow.Part] {
        Flow.Transition(on: "event.LaunchFinished", when: [.root("launch")], do: [.setRoot("signIn")])
        Flow.Transition(
            on: "event.AccountChanged", where: ["status": "signedIn"], when: [.root("launch", "signIn")],
            do: [.setRoot("playlists")])
        Flow.Transition(
            on: "event.AccountChanged", where: ["status": "signedOut"], unless: [.root("launch", "signIn")],
            do: [.setRoot("signIn")])
        Flow.Transition(on: "event.SignInURLGenerated", origin: .own, do: [.openURL("${data.url}")])
    }

    @Flow.Builder private static var playlists: [Flow.Part] {
        Flow.Transition(
            on: "command.PlaylistSelected", when: [.root("playlists"), .path("playlist")],
            unless: [.shown(.init(chosen))], do: [.dismissAll, .replacePath([chosen])])
        Flow.Transition(
            on: "command.PlaylistSelected", when: [.root("playlists")], unless: [.shown(.init(chosen))],
            do: [.dismissAll, .push(chosen)])
    }

    @Flow.Builder private static var sheets: [Flow.Part] {
        Flow.Transition(
            on: "event.SpeakerRequired", when: [.shown("playlist")], unless: [.presented("speakers")],
            do: [.present("speakers", as: .sheet, options: PresentationOptions(detents: [.medium]))])
        Flow.Transition(on: "command.SpeakerSelected", when: [.presented("speakers")], do: [.dismiss("speakers")])
        Flow.Transition(
            on: "command.NowPlayingRequested", when: [.shown("playlist")],
            unless: [.presented("nowPlaying", "speakers")],
            do: [.present("nowPlaying", as: .sheet, options: PresentationOptions(detents: [.large]))])
    }

    private static let chosen = Flow.Destination.screen("playlist", ["playlistID": "${data.playlistID}"])
}
