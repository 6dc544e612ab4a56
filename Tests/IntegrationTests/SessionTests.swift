import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import SegueTestSupport
import Testing
import Vocabulary

@Suite("Sessions with their own accounts, with real processes")
struct SessionTests {
    @Test("Two sessions play at the same time, one logs out, and a third has no account", .timeLimit(.minutes(5)))
    func story() async throws {
        try await Story.tell { story in
            let (anna, bert, carla) = (story.of("anna"), story.of("bert"), story.of("carla"))
            for person in [anna, bert, carla] {
                try await person.launch()
                try await person.status(is: .unauthorized)
            }
            try await anna.logIn()
            try await bert.logIn(as: "night")
            #expect(try await anna.playlists.count > 20)
            #expect(try await bert.playlists == ["LateShift", "QuietHours"])

            async let annas = anna.select("EndlessFocus")
            async let berts = bert.select("LateShift")
            #expect(try await annas.count == 120)
            #expect(try await berts.count == 5)
            async let annaPlays: Void = anna.play()
            async let bertPlays: Void = bert.play()
            _ = try await (annaPlays, bertPlays)

            try await carla.launch()
            let refused = try await story.bus.send(
                Command.PlaylistSelected(playlistID: "EndlessFocus"), subject: "carla")
            try await story.stack.message(ApplicationError.self, after: refused, subject: "carla") {
                $0.code == "spotify.not-connected"
            }

            try await story.bus.send(Command.SpotifyDeauthorizationRequested(), subject: "anna")
            try await anna.bothAreAt("serviceSelection")
            try await anna.status(is: .deauthorized)
            try await bert.play()
            try await story.stack.screen("generatedPlaylist", on: "ios", subject: "bert")
            for service in ["auth-service", "music-service"] { try await story.processes.killAndRestart(service) }
            try await bert.play()
            #expect(try await bert.select("QuietHours").count == 7)
            let statuses = story.stack.messages.filter {
                $0.type == DomainEvent.SpotifyAuthorizationUpdated.type && $0.subject == "bert"
            }
            #expect(statuses.count == 2, "\(statuses)")
        }
    }

    @Test("The services withdraw the documents of a session that ends, and keep its account", .timeLimit(.minutes(5)))
    func ended() async throws {
        try await Story.tell { story in
            let (anna, bert) = (story.of("anna"), story.of("bert"))
            for person in [anna, bert] { try await person.launch() }
            try await anna.logIn()
            try await bert.logIn(as: "night")
            try await anna.select("DeepFocus")
            try await bert.select("LateShift")

            try await story.bus.publish(DomainEvent.SessionEnded(), subject: "anna")
            let types = [Document.Playlists.type, Document.GeneratedPlaylist.type]
            try await story.stack.until("the documents are withdrawn") { messages in
                types.allSatisfy { type in
                    messages.last { $0.type == type && $0.subject == "anna" }?.isTombstone == true
                }
            }
            for type in types {
                #expect(try await story.bus.document(type, subject: "anna", key: nil) == nil)
                #expect(try await story.bus.document(type, subject: "bert", key: nil) != nil)
            }
            try await story.bus.publish(DomainEvent.LaunchFinished(), subject: "anna")
            #expect(try await anna.playlists.count > 20, "the account is still connected")
        }
    }

    @Test("A user at a terminal uses the app in a session with another account", .timeLimit(.minutes(5)))
    func terminal() async throws {
        try await SegueCommandLine.inRepository { segue in
            try segue.write(
                #"exec curl --silent --location --data "${1#*\?}&account=night&decision=approve" "${1%%\?*}""#,
                to: "browser")
            let result = try await segue.shell(
                """
                set -euo pipefail; exec 2>&1
                segue up -d --wait -f compose/default.yaml
                printf '%s\\n' 'Connect Spotify' 'Late Shift' 'Play on Spotify' |
                    focus-player --platform ios --session bert --open "sh \(segue.directory)/browser"
                segue monitor --type event.PlaybackStarted --session bert --since beginning --count 1
                segue get Playlists --session bert
                segue get NavigationState ios
                """)
            #expect(result.status == 0 && result.output.contains("event.PlaybackStarted"), "\(result.output)")
            #expect(result.output.contains("Quiet Hours") && !result.output.contains("Endless Focus"))
            #expect(result.output.contains(#"screen: launch"#) || result.output.contains(#""launch""#))
        }
    }
}

extension Story {
    /// The ids of the playlists that the session shows.
    fileprivate var playlists: [String] {
        get async throws {
            try await stack.document(Document.Playlists.self, subject: session) { !$0.playlists.isEmpty }
                .playlists.map(\.id)
        }
    }

    /// Plays on the account's active device, and waits until the music plays.
    fileprivate func play() async throws {
        let play = try await bus.send(
            Command.PlayOnSpotifyRequested(), subject: session, origin: Origin(platform: "ios"))
        try await stack.message(DomainEvent.PlaybackStarted.self, after: play, subject: session)
    }

    /// Waits for the session's answer to its launch or to a log-out.
    fileprivate func status(is status: DomainEvent.SpotifyAuthorizationUpdated.Status) async throws {
        try await stack.message(DomainEvent.SpotifyAuthorizationUpdated.self, subject: session) { $0.status == status }
    }
}
