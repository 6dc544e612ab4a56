import Navigation
import Testing

@Suite("The focus player on mac")
struct MacFlowTests {
    @Test("Authorised, the playlists are the root of a split view")
    func authorized() throws {
        var session = try Session("mac")
        session.send("event.LaunchFinished")
        #expect(session.root == "serviceSelection")
        session.send("event.SpotifyAuthorizationUpdated", ["status": "authorized"])
        #expect(session.root == "playlistSelection")
        #expect(session.state.root.container == .split(columns: [:]))
    }

    @Test("A chosen playlist shows in the detail column, beside the list")
    func playlistSelected() throws {
        let session = try Session.showingPlaylist("p1", on: "mac")
        let shown = ScreenInstance(
            screen: "generatedPlaylist", id: "generatedPlaylist-4", arguments: ["playlistID": "p1"])
        #expect(session.root == "playlistSelection")
        #expect(session.path.isEmpty)
        #expect(session.state.root.container == .split(columns: ["detail": ScreenStack(shown)]))
        #expect(
            session.machine.snapshot.commands == [
                "command.DidRequestOpenPlaylistOnSpotify", "command.PlayOnSpotifyRequested",
                "command.PlaylistSelected", "command.SpotifyDeauthorizationRequested",
            ])
    }

    @Test("Another playlist replaces the one in the column, whose work ends")
    func playlistSelectedAgain() throws {
        var session = try Session.showingPlaylist("p1", on: "mac")
        let list = session.state.root.instance
        let effects = session.send("command.PlaylistSelected", ["playlistID": "p2"])
        #expect(session.state.root.instance == list)
        #expect(session.state.root.container?.stacks.map(\.instance.arguments) == [["playlistID": "p2"]])
        #expect(effects.dismissals == ["generatedPlaylist-4"])
        #expect(session.leaving.last == "generatedPlaylist-4")
    }

    @Test("The playlist in the column stays when it is chosen again")
    func samePlaylistSelected() throws {
        var session = try Session.showingPlaylist("p1", on: "mac")
        let before = session.machine
        #expect(session.send("command.PlaylistSelected", ["playlistID": "p1"]).isEmpty)
        #expect(session.machine == before)
    }

    @Test("A device is activated on a popover, which the choice dismisses")
    func deviceActivation() throws {
        var session = try Session.showingPlaylist(on: "mac")
        session.send("event.SpotifyDeviceActivationRequired")
        #expect(session.state.presentations.map(\.style) == [.popover])
        #expect(session.send("event.SpotifyDeviceActivationRequired").isEmpty)
        session.send("command.DeviceSelected", ["deviceID": "d"])
        #expect(session.presented.isEmpty)
    }

    @Test("Without Premium an alert offers to open the playlist of the column in Spotify")
    func premiumRequired() throws {
        var session = try Session.showingPlaylist("p1", on: "mac")
        session.send("event.SpotifyPremiumOnlyActionAttempted")
        let effects = session.report("AlertAnswered", "premiumRequired-5", ["button": "open"])
        #expect(effects.contains(.send(type: "command.DidRequestOpenPlaylistOnSpotify", data: [:])))
        #expect(
            session.send("command.DidRequestOpenPlaylistOnSpotify", platform: "mac")
                == [.openURL("https://open.spotify.com/playlist/p1")])
    }
}
