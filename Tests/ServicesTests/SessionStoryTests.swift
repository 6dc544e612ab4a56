import Authorization
import Contracts
import EventBus
import SpotifyTestSupport
import TestSupport
import Testing
import TokenVault
import Vocabulary

@Suite("Sessions with their own accounts", .timeLimit(.minutes(2)))
struct SessionStoryTests {
    /// Both services, with the first account in the session `default` and the second one in the session `anna`.
    private func connected(_ body: @escaping @Sendable (Stage) async throws -> Void) async throws {
        try await Stage.with { stage in
            try await stage.device.beginSession("anna")
            try await stage.withServices {
                try await stage.connect()
                try await stage.connect("anna", as: "night")
                for session in [Session.default, "anna"] {
                    _ = try await stage.device.first(in: session, DomainEvent.PlaylistsLoaded.self)
                }
                try await body(stage)
            }
        }
    }

    @Test("Each session sees the playlists of its account and plays on its devices")
    func separate() async throws {
        try await connected { stage in
            let playlists = try await stage.device.document(Document.Playlists.self, subject: "anna")
            #expect(playlists?.playlists.map(\.id) == ["LateShift", "QuietHours"])
            #expect(try await stage.device.document(Document.Playlists.self)?.playlists.count == 24)

            let focus = try await stage.choose("DeepFocus")
            let late = try await stage.choose("LateShift", in: "anna")
            #expect(late.total == 5)
            #expect(try await stage.device.document(Document.GeneratedPlaylist.self)?.songs == focus.songs)
            // The one account has no devices any more, the other one has.
            try await stage.spotify.control("devices", "action=none")
            let play = try await stage.device.tap(Command.PlayOnSpotifyRequested(), in: "anna")
            let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: play)
            let first = try await stage.device.tap(Command.PlayOnSpotifyRequested())
            let _: DomainEvent.SpotifyDeviceActivationRequired = try await stage.device.outcome(of: first)

            let answer = try await stage.device.ask(Query.PlaylistSongs(playlistID: "LateShift"), subject: "anna")
            #expect(answer.songs == late.songs)
            await #expect(throws: ApplicationError.self) {
                try await stage.device.ask(Query.PlaylistSongs(playlistID: "LateShift"))
            }
        }
    }

    @Test("A session without an account is unauthorized, and cannot use another session's account")
    func withoutAccount() async throws {
        try await connected { stage in
            let launch = try await stage.device.publish(DomainEvent.LaunchFinished(), subject: "bert")
            #expect(try await stage.device.status(after: launch) == .unauthorized)
            let command = try await stage.device.send(
                Command.PlaylistSelected(playlistID: "DeepFocus"), subject: "bert")
            let error: ApplicationError = try await stage.device.outcome(of: command)
            #expect(error.code == "spotify.not-connected")
        }
    }

    @Test("A session is served while Spotify answers another one slowly")
    func slow() async throws {
        try await connected { stage in
            // This answer comes after the end of the test.
            try await stage.spotify.control("faults", "path=/v1/playlists/EndlessFocus/*&delay_ms=60000")
            let slow = try await stage.device.tap(Command.PlaylistSelected(playlistID: "EndlessFocus"))
            _ = try await stage.generated(by: slow, .loading)
            _ = try await stage.choose("LateShift", in: "anna")
            let play = try await stage.device.tap(Command.PlayOnSpotifyRequested(), in: "anna")
            let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: play)
            #expect(try await stage.device.document(Document.GeneratedPlaylist.self)?.status == .loading)
        }
    }

    @Test("Revoked and disconnected accounts of one session do not affect the other session")
    func disconnect() async throws {
        try await connected { stage in
            _ = try await stage.choose("DeepFocus")
            _ = try await stage.choose("LateShift", in: "anna")
            try await stage.spotify.control("revoke", "tokens=all&account=night")
            let refused = try await stage.device.tap(Command.PlayOnSpotifyRequested(), in: "anna")
            #expect(try await stage.device.status(after: refused) == .deauthorized)

            let play = try await stage.device.tap(Command.PlayOnSpotifyRequested())
            let _: DomainEvent.PlaybackStarted = try await stage.device.outcome(of: play)
            #expect(try await stage.vault.read().generation == 1)
            #expect(try await stage.vault.read("anna").tokens == nil)
        }
    }

    @Test("A session's end withdraws its documents and removes its songs, and keeps its account")
    func ended() async throws {
        try await connected { stage in
            _ = try await stage.choose("DeepFocus")
            _ = try await stage.choose("LateShift", in: "anna")
            try await stage.spotify.control("devices", "action=deactivate&account=night")
            let play = try await stage.device.tap(Command.PlayOnSpotifyRequested(), in: "anna")
            let _: DomainEvent.SpotifyDeviceActivationRequired = try await stage.device.outcome(of: play)

            try await stage.device.endSession("anna")
            try await stage.device.withdrawn(
                [Document.Playlists.type, Document.GeneratedPlaylist.type, Document.Devices.type], in: "anna")
            let late = try await stage.device.tap(Command.PlaylistSelected(playlistID: "QuietHours"), in: "anna")
            let discarded: DomainEvent.MessageDiscarded = try await stage.device.outcome(of: late)
            #expect(discarded.messageID == late.id)
            #expect(try await stage.device.document(Document.GeneratedPlaylist.self, subject: "anna") == nil)
            await #expect(throws: ApplicationError.self) {
                try await stage.device.ask(Query.PlaylistSongs(playlistID: "LateShift"), subject: "anna")
            }
            #expect(try await stage.device.document(Document.GeneratedPlaylist.self)?.playlistID == "DeepFocus")

            // A new session of the same name still has the account.
            try await stage.device.beginSession("anna")
            let launch = try await stage.device.publish(DomainEvent.LaunchFinished(), subject: "anna")
            #expect(try await stage.device.status(after: launch) == .authorized)
            let _: DomainEvent.PlaylistsLoaded = try await stage.device.outcome(of: launch)
            _ = try await stage.choose("QuietHours", in: "anna")
        }
    }

    @Test("A session's end ends its request for consent")
    func pending() async throws {
        try await Stage.with { stage in
            try await stage.withAuthService {
                let (_, url) = try await stage.requestConsent("anna")
                let (_, other) = try await stage.requestConsent()
                try await stage.device.endSession("anna")
                // The event is handled when this later message of the session has been answered.
                let launch = try await stage.device.publish(DomainEvent.LaunchFinished(), subject: "anna")
                #expect(try await stage.device.status(after: launch) == .unauthorized)
                #expect(try await stage.press("approve", at: url).status == 400)
                #expect(try await stage.press("approve", at: other).status == 200)
                #expect(try await stage.vault.read("anna") == .none)
            }
        }
    }
}

extension EventBus {
    /// Waits for a message of a type in a session.
    fileprivate func first<M: Message>(in session: String, _ type: M.Type) async throws -> Envelope? {
        try await withSubscription(to: [.type(M.type, subject: session)], from: .beginning) { messages in
            try await messages.first
        }
    }

    /// Waits until the documents of these types are withdrawn.
    func withdrawn(_ types: Set<MessageType>, in session: String) async throws {
        var left = types
        try await withSubscription(to: [.kind(.document, subject: session)], from: .beginning) { messages in
            for try await message in messages where message.isTombstone {
                left.remove(message.type)
                if left.isEmpty { break }
            }
        }
    }
}
