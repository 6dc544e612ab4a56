import Navigation
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

        // A second device that attaches says it again.
        #expect(session.send("event.LaunchFinished").isEmpty)
        #expect(session.machine.revision == 1)
    }

    @Test("Authorised, the user chooses a playlist, whether the launch is over or not", arguments: [true, false])
    func authorized(launched: Bool) throws {
        var session = try Session("ios")
        if launched { session.send("event.LaunchFinished") }
        session.send("event.SpotifyAuthorizationUpdated", ["status": "authorized"])
        #expect(session.root == "playlistSelection")
        #expect(session.state.root.container == nil)
        session.send("event.LaunchFinished")
        #expect(session.root == "playlistSelection")
    }

    @Test("Unauthorised, the user stays at the choice of a service")
    func unauthorized() throws {
        var session = try Session("ios")
        session.send("event.SpotifyAuthorizationUpdated", ["status": "unauthorized"])
        #expect(session.root == "launch")
        session.send("event.LaunchFinished")
        session.send("event.SpotifyAuthorizationUpdated", ["status": "unauthorized"])
        #expect(session.root == "serviceSelection")
        #expect(session.machine.revision == 1)
    }

    @Test("A refreshed authorisation leaves the user where they are")
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
                "command.DidRequestOpenPlaylistOnSpotify", "command.PlayOnSpotifyRequested",
            ])
    }

    @Test("A playlist chosen while another is shown becomes the whole path, and takes the sheet with it")
    func playlistSelectedAgain() throws {
        var session = try Session.showingPlaylist("p1", on: "ios")
        session.send("event.SpotifyDeviceActivationRequired")
        let effects = session.send("command.PlaylistSelected", ["playlistID": "p2"], platform: "mac")
        #expect(session.state.path.map(\.arguments) == [["playlistID": "p2"]])
        #expect(session.presented.isEmpty)
        #expect(effects.dismissals == ["deviceActivation-5", "generatedPlaylist-4"])
    }

    @Test("The playlist that is shown stays when it is chosen again, and so does what is presented over it")
    func samePlaylistSelected() throws {
        var session = try Session.showingPlaylist("p1", on: "ios")
        session.send("event.SpotifyDeviceActivationRequired")
        let before = session.machine
        #expect(session.send("command.PlaylistSelected", ["playlistID": "p1"], platform: "mac").isEmpty)
        #expect(session.machine == before)
    }

    @Test("A playlist cannot be chosen before the playlists are there")
    func playlistSelectedTooEarly() throws {
        var session = try Session("ios")
        #expect(session.send("command.PlaylistSelected", ["playlistID": "p1"]).isEmpty)
        #expect(session.machine.revision == 0)
    }

    @Test("A choice without a playlist fails visibly and changes nothing")
    func playlistSelectedWithoutIdentifier() throws {
        var session = try Session.showingPlaylist(on: "ios")
        let before = session.machine
        let effects = session.send("command.PlaylistSelected", [:])
        #expect(effects.failureCodes == ["navigation.unresolvedTemplate"])
        #expect(session.machine == before)
    }

    @Test("A device is activated on a sheet of half height with a drag indicator, presented once")
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

    @Test("No device needs to be activated where no playlist is shown")
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

    @Test("Without Premium an alert offers to open the playlist in Spotify")
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

    @Test("Without Premium, the alert comes over the sheet that is open")
    func premiumRequiredOverSheet() throws {
        var session = try Session.showingPlaylist(on: "ios")
        session.send("event.SpotifyDeviceActivationRequired")
        session.send("event.SpotifyPremiumOnlyActionAttempted")
        #expect(session.presented == ["deviceActivation", "premiumRequired"])
        let effects = session.send("command.DeviceSelected", ["deviceID": "d"])
        #expect(effects.dismissals == ["premiumRequired-6", "deviceActivation-5"])
    }
}
