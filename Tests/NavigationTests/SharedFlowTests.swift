import Navigation
import Testing

@Suite("The focus player on either platform")
struct SharedFlowTests {
    @Test("Deauthorised, the app returns to the choice of a service from everywhere", arguments: ["ios", "mac"])
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
            let standing = session.state.standing.map(\.id)
            let effects = session.send("event.SpotifyAuthorizationUpdated", ["status": "deauthorized"])
            #expect(session.root == "serviceSelection")
            #expect(session.state.standing.count == 1)
            #expect(effects.dismissals == standing.reversed())
        }
    }

    @Test("Deauthorised before anything is shown, the app stays where it is", arguments: ["ios", "mac"])
    func deauthorizedEarly(platform: String) throws {
        var session = try Session(platform)
        #expect(session.send("event.SpotifyAuthorizationUpdated", ["status": "deauthorized"]).isEmpty)
        #expect(session.root == "launch")
        session.send("event.LaunchFinished")
        #expect(session.send("event.SpotifyAuthorizationUpdated", ["status": "deauthorized"]).isEmpty)
        #expect(session.machine.revision == 1)
    }

    @Test("A URL opens on the platform where it began, or for a tool", arguments: ["ios", "mac"])
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

    @Test("What is no URL is not opened, visibly", arguments: ["", "spotify", "/etc/passwd"])
    func invalidURL(url: String) throws {
        var session = try Session("ios")
        let effects = session.send("command.OpenAnotherAppRequested", ["url": .string(url)])
        #expect(effects.failureCodes == ["navigation.invalidURL"])
    }

    @Test("An identifier cannot turn a URL into another one", arguments: ["ios", "mac"])
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

    @Test("What other services tell one another does not concern navigation", arguments: ["ios", "mac"])
    func unrelatedMessages(platform: String) throws {
        var session = try Session.showingPlaylist(on: platform)
        let before = session.machine
        #expect(session.send("event.PlaylistsLoaded").isEmpty)
        #expect(session.send("command.PlayOnSpotifyRequested", platform: platform).isEmpty)
        #expect(session.machine == before)
    }
}
