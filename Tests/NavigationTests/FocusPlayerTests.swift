import Navigation
import SampleFlows
import Support
import Testing

@Suite("The focus player on ios")
struct IOSFlowTests {
    @Test("A session starts at launch with revision 0, no cause and nothing presented")
    func start() throws {
        let snapshot = try Session("ios").machine.snapshot
        #expect(snapshot.revision == 0)
        #expect(snapshot.cause == nil)
        #expect(snapshot.state == NavigationState(root: RootScreen(ScreenInstance(screen: "launch", id: "launch-1"))))
    }

    @Test("The end of the launch leads to the choice of a service, once")
    func launchFinished() throws {
        var session = try Session("ios")
        let effects = session.send("event.LaunchFinished")
        #expect(session.root == "serviceSelection")
        #expect(session.leaving == ["launch-1"])
        #expect(
            effects == [
                .screenDismissed(instance: "launch-1", screen: "launch"), .expectScreenGone(instance: "launch-1"),
            ])
        #expect(session.machine.snapshot.commands == ["command.SpotifyAuthorizationRequested"])

        // A second device that starts the app sends the event again.
        #expect(session.send("event.LaunchFinished").isEmpty)
        #expect(session.machine.revision == 1)
    }

    @Test("An authorised user chooses a playlist, whether the launch is over or not", arguments: [true, false])
    func authorized(launched: Bool) throws {
        var session = try Session("ios")
        if launched { session.send("event.LaunchFinished") }
        session.send("event.SpotifyAuthorizationUpdated", ["status": "authorized"])
        #expect(session.root == "playlistSelection")
        #expect(session.state.root.container == nil)
        session.send("event.LaunchFinished")
        #expect(session.root == "playlistSelection")
    }

    @Test("An unauthorised user stays at the choice of a service")
    func unauthorized() throws {
        var session = try Session("ios")
        session.send("event.SpotifyAuthorizationUpdated", ["status": "unauthorized"])
        #expect(session.root == "launch")
        session.send("event.LaunchFinished")
        session.send("event.SpotifyAuthorizationUpdated", ["status": "unauthorized"])
        #expect(session.root == "serviceSelection")
        #expect(session.machine.revision == 1)
    }

    @Test("A refreshed authorisation changes nothing")
    func authorizedAgain() throws {
        var session = try Session.showingPlaylist(on: "ios")
        let before = session.machine
        #expect(session.send("event.SpotifyAuthorizationUpdated", ["status": "authorized"]).isEmpty)
        #expect(session.machine == before)
    }

    @Test("A chosen playlist is pushed with its identifier")
    func playlistSelected() throws {
        let session = try Session.showingPlaylist("p1", on: "ios")
        #expect(session.root == "playlistSelection")
        #expect(
            session.state.path == [
                ScreenInstance(screen: "generatedPlaylist", id: "generatedPlaylist-4", arguments: ["playlistID": "p1"])
            ])
        #expect(
            session.machine.snapshot.commands == [
                "command.DidRequestOpenPlaylistOnSpotify", "command.NowPlayingRequested",
                "command.PlayOnSpotifyRequested",
            ])
    }

    @Test("The playing screen is shown once, over the playlist, and not over a question", arguments: ["ios", "mac"])
    func nowPlaying(platform: String) throws {
        var session = try Session.showingPlaylist("p1", on: platform)
        session.send("command.NowPlayingRequested")
        #expect(session.presented == ["nowPlaying"])
        #expect(session.state.presentations.first?.style == (platform == "ios" ? .sheet : .popover))
        #expect(session.machine.snapshot.commands.contains("command.PauseRequested"))
        session.send("command.NowPlayingRequested")
        #expect(session.presented == ["nowPlaying"])
        // A command that finds no active device asks for one over the player.
        session.send("event.SpotifyDeviceActivationRequired")
        #expect(session.presented == ["nowPlaying", "deviceActivation"])

        var asked = try Session.showingPlaylist("p1", on: platform)
        asked.send("event.SpotifyPremiumOnlyActionAttempted")
        asked.send("command.NowPlayingRequested")
        #expect(asked.presented == ["premiumRequired"])
    }

    @Test("A playlist that is chosen while another is shown replaces the path and closes the sheet")
    func playlistSelectedAgain() throws {
        var session = try Session.showingPlaylist("p1", on: "ios")
        session.send("event.SpotifyDeviceActivationRequired")
        let effects = session.send("command.PlaylistSelected", ["playlistID": "p2"], platform: "mac")
        #expect(session.state.path.map(\.arguments) == [["playlistID": "p2"]])
        #expect(session.presented.isEmpty)
        #expect(effects.dismissals == ["deviceActivation-5", "generatedPlaylist-4"])
    }

    @Test("The playlist that is shown stays when it is chosen again, and so does the screen over it")
    func samePlaylistSelected() throws {
        var session = try Session.showingPlaylist("p1", on: "ios")
        session.send("event.SpotifyDeviceActivationRequired")
        let before = session.machine
        #expect(session.send("command.PlaylistSelected", ["playlistID": "p1"], platform: "mac").isEmpty)
        #expect(session.machine == before)
    }

    @Test("A playlist cannot be chosen before the playlists are shown")
    func playlistSelectedTooEarly() throws {
        var session = try Session("ios")
        #expect(session.send("command.PlaylistSelected", ["playlistID": "p1"]).isEmpty)
        #expect(session.machine.revision == 0)
    }

    @Test("A choice without a playlist fails with an error and changes nothing")
    func playlistSelectedWithoutIdentifier() throws {
        var session = try Session.showingPlaylist(on: "ios")
        let before = session.machine
        let effects = session.send("command.PlaylistSelected", [:])
        #expect(effects.failureCodes == ["navigation.unresolvedTemplate"])
        #expect(session.machine == before)
    }

    @Test("A device is activated on one sheet of half height with a drag indicator")
    func deviceActivation() throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.send("event.SpotifyDeviceActivationRequired")
        let sheet = try #require(session.state.presentations.first)
        #expect(sheet.style == .sheet)
        #expect(sheet.options == PresentationOptions(detents: [.medium], dragIndicator: true))
        #expect(
            session.machine.snapshot.commands == ["command.DeviceSelected", "command.OpenAnotherAppRequested"])

        #expect(session.send("event.SpotifyDeviceActivationRequired").isEmpty)
        #expect(session.presented == ["deviceActivation"])
    }

    @Test("No device is activated while no playlist is shown")
    func deviceActivationWithoutPlaylist() throws {
        var session = try Session("ios")
        session.send("event.SpotifyAuthorizationUpdated", ["status": "authorized"])
        #expect(session.send("event.SpotifyDeviceActivationRequired").isEmpty)
        #expect(session.send("event.SpotifyPremiumOnlyActionAttempted").isEmpty)
        #expect(session.presented.isEmpty)
    }

    @Test("The choice of a device dismisses the sheet, on every platform")
    func deviceSelected() throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.send("event.SpotifyDeviceActivationRequired")
        let effects = session.send("command.DeviceSelected", ["deviceID": "d"], platform: "mac", instance: "x-9")
        #expect(effects.dismissals == ["deviceActivation-5"])
        #expect(session.presented.isEmpty)
        #expect(session.path == ["generatedPlaylist"])
        #expect(session.leaving.last == "deviceActivation-5")
    }

    @Test("An alert without Premium offers to open the playlist in Spotify")
    func premiumRequired() throws {
        var session = try Session.showingPlaylist("p1", on: "ios")
        session.send("event.SpotifyPremiumOnlyActionAttempted")
        #expect(session.presented == ["premiumRequired"])
        #expect(session.send("event.SpotifyPremiumOnlyActionAttempted").isEmpty)
        #expect(session.send("event.SpotifyDeviceActivationRequired").isEmpty)

        let effects = session.report("AlertAnswered", "premiumRequired-5", ["button": "open"])
        #expect(
            effects == [
                .screenDismissed(instance: "premiumRequired-5", screen: "premiumRequired"),
                .send(type: "command.DidRequestOpenPlaylistOnSpotify", data: [:]),
            ])
        #expect(session.presented.isEmpty)
        #expect(
            session.send("command.DidRequestOpenPlaylistOnSpotify", platform: "ios")
                == [.openURL("https://open.spotify.com/playlist/p1")])
    }

    @Test("The alert's other button only closes it")
    func premiumDeclined() throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.send("event.SpotifyPremiumOnlyActionAttempted")
        let effects = session.report("AlertAnswered", "premiumRequired-5", ["button": "cancel"])
        #expect(effects == [.screenDismissed(instance: "premiumRequired-5", screen: "premiumRequired")])
    }

    @Test("The alert without Premium is shown over the sheet that is open")
    func premiumRequiredOverSheet() throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.send("event.SpotifyDeviceActivationRequired")
        session.send("event.SpotifyPremiumOnlyActionAttempted")
        #expect(session.presented == ["deviceActivation", "premiumRequired"])
        let effects = session.send("command.DeviceSelected", ["deviceID": "d"])
        #expect(effects.dismissals == ["premiumRequired-6", "deviceActivation-5"])
    }
}

@Suite("The focus player on mac")
struct MacFlowTests {
    @Test("The playlists are the root of a split view after the authorisation")
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
                "command.DidRequestOpenPlaylistOnSpotify", "command.NowPlayingRequested",
                "command.PlayOnSpotifyRequested", "command.PlaylistSelected", "command.SpotifyDeauthorizationRequested",
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

    @Test("An alert without Premium offers to open the playlist of the column in Spotify")
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

@Suite("The focus player on either platform")
struct SharedFlowTests {
    @Test(
        "The app returns to the choice of a service from everywhere when it is deauthorised", arguments: ["ios", "mac"])
    func deauthorized(platform: String) throws {
        let detours: [[String]] = [
            [],
            ["event.SpotifyDeviceActivationRequired"],
            ["event.SpotifyPremiumOnlyActionAttempted"],
            ["event.SpotifyDeviceActivationRequired", "event.SpotifyPremiumOnlyActionAttempted"],
        ]
        for detour in detours {
            var session = try Session.showingPlaylist(on: platform)
            for type in detour { session.send(type) }
            let open = session.state.open.map(\.id)
            let effects = session.send("event.SpotifyAuthorizationUpdated", ["status": "deauthorized"])
            #expect(session.root == "serviceSelection")
            #expect(session.state.open.count == 1)
            #expect(effects.dismissals == open.reversed())
        }
    }

    @Test("The app stays at launch when it is deauthorised before anything is shown", arguments: ["ios", "mac"])
    func deauthorizedEarly(platform: String) throws {
        var session = try Session(platform)
        #expect(session.send("event.SpotifyAuthorizationUpdated", ["status": "deauthorized"]).isEmpty)
        #expect(session.root == "launch")
        session.send("event.LaunchFinished")
        #expect(session.send("event.SpotifyAuthorizationUpdated", ["status": "deauthorized"]).isEmpty)
        #expect(session.machine.revision == 1)
    }

    @Test("A URL opens on the platform that requested it, or for a tool", arguments: ["ios", "mac"])
    func openURL(platform: String) throws {
        var session = try Session.showingPlaylist("p1", on: platform)
        let other = platform == "ios" ? "mac" : "ios"
        let revision = session.machine.revision
        for type in ["event.SpotifyAuthURLGenerated", "command.OpenAnotherAppRequested"] {
            let url: JSONValue = ["url": "https://accounts.spotify.com/authorize?a=1&b=%20"]
            let opened: [Machine.Effect] = [.openURL("https://accounts.spotify.com/authorize?a=1&b=%20")]
            #expect(session.send(type, url, platform: platform) == opened)
            #expect(session.send(type, url) == opened)
            #expect(session.send(type, url, platform: other).isEmpty)
        }
        #expect(session.send("command.DidRequestOpenPlaylistOnSpotify", platform: other).isEmpty)
        #expect(session.machine.revision == revision)
    }

    @Test("An invalid URL is not opened, and an error is published", arguments: ["", "spotify", "/etc/passwd"])
    func invalidURL(url: String) throws {
        var session = try Session("ios")
        let effects = session.send("command.OpenAnotherAppRequested", ["url": .string(url)])
        #expect(effects.failureCodes == ["navigation.invalidURL"])
    }

    @Test("An identifier cannot change the host or path of a URL", arguments: ["ios", "mac"])
    func identifierIsEncoded(platform: String) throws {
        var session = try Session.showingPlaylist("../user?x=ü", on: platform)
        #expect(
            session.send("command.DidRequestOpenPlaylistOnSpotify")
                == [.openURL("https://open.spotify.com/playlist/..%2Fuser%3Fx%3D%C3%BC")])
    }

    @Test("A playlist cannot be opened in Spotify where none is shown", arguments: ["ios", "mac"])
    func openWithoutPlaylist(platform: String) throws {
        var session = try Session(platform)
        #expect(session.send("command.DidRequestOpenPlaylistOnSpotify").isEmpty)
    }

    @Test("Messages between other services change nothing", arguments: ["ios", "mac"])
    func unrelatedMessages(platform: String) throws {
        var session = try Session.showingPlaylist(on: platform)
        let before = session.machine
        #expect(session.send("event.PlaylistsLoaded").isEmpty)
        #expect(session.send("command.PlayOnSpotifyRequested", platform: platform).isEmpty)
        #expect(session.machine == before)
    }
}
