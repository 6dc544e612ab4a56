import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Navigation
import SegueTestSupport
import Synchronization
import TestSupport
import Testing
import Vocabulary

@Suite("The focus player in one process")
struct InProcessTests {
    @Test("An app that ended in the middle of its story continues with the same screens", .timeLimit(.minutes(5)))
    func relaunch() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let before = Mutex<(snapshot: NavigationSnapshot, end: Position)?>(nil)
        try await Story.tell(keeping: scratch.path) { story in
            try await story.launch()
            try await story.logIn()
            try await story.select("EndlessFocus")
            let snapshot = try await story.stack.screen("generatedPlaylist", on: "ios")
            let end = try await story.bus.inspect.end()
            before.withLock { $0 = (snapshot, end) }
        }
        let kept = before.withLock { $0 }
        let (former, end) = try #require(kept)
        try await Story.tell(keeping: scratch.path) { story in
            let document = try await story.bus.document(Document.NavigationState.self, key: "ios")
            #expect(document?.snapshot == former)
            // The account and the playlist are still there, and nothing is handled twice.
            let play = try await story.bus.send(Command.PlayOnSpotifyRequested())
            #expect(play.position?.epoch == end.epoch && (play.position?.offset ?? 0) > end.offset)
            try await story.stack.message(DomainEvent.PlaybackStarted.self, after: play)
            #expect(
                !story.stack.messages.contains { message in
                    message.type == DomainEvent.PlaylistShuffled.type && (message.position?.offset ?? 0) > end.offset
                })
            try await story.bus.send(Command.SpotifyDeauthorizationRequested())
            try await story.bothAreAt("serviceSelection")
        }
    }

    @Test("A restarted device shows the last screen of the former one", .timeLimit(.minutes(5)))
    func device() async throws {
        try await SegueCommandLine.inRepository { segue in
            try segue.write(
                #"exec curl --silent --location --data "${1#*\?}&decision=approve" "${1%%\?*}""#, to: "browser")
            let app = """
                focus-player --in-process --platform ios --simulator --state "\(segue.directory)/app" \
                    --open "sh \(segue.directory)/browser"
                """
            let first = try await segue.shell(
                "printf '%s\\n' 'Connect Spotify' 'Endless Focus' @generatedPlaylist | \(app)")
            try #require(first.status == 0, "\(first.error)")
            let instances = try await screens(in: "\(segue.directory)/app")
            #expect(instances.map(\.screen) == ["playlistSelection", "generatedPlaylist"])
            let second = try await segue.shell("printf '%s\\n' @generatedPlaylist 'Play on Spotify' | \(app)")
            #expect(second.status == 0, "\(second.error)")
            #expect(!second.output.contains("Connect Spotify"), "\(second.output)")
            #expect(try await screens(in: "\(segue.directory)/app") == instances)
        }
    }

    @Test("A process with tokens leaves no core dump", .timeLimit(.minutes(2)))
    func coreDumps() async throws {
        try await SegueCommandLine.inRepository { segue in
            let result = try await segue.shell(
                """
                set -euo pipefail
                cd "\(segue.directory)" && mkfifo in out
                (cd "\(Repository.path(""))" && exec focus-player --in-process --platform ios --simulator \
                    --state "\(segue.directory)/app") <in >out 2>errors & pid=$!
                exec 3>in 4<out
                grep -m 1 'Connect Spotify' <&4
                grep '^Max core file size' /proc/$pid/limits
                exec 3>&-
                cat <&4
                wait $pid
                """)
            let errors = try String(contentsOfFile: "\(segue.directory)/errors", encoding: .utf8)
            #expect(result.status == 0 && result.output.contains(#/Max core file size +1 +1 /#), "\(result) \(errors)")
        }
    }

    @Test("The commands of docs/deploying.md run the app repeatedly", .timeLimit(.minutes(5)))
    func page() async throws {
        let page = try Page("docs/deploying.md")
        let start = try #require(page.blocks(of: "sh").first)
        let relaunches = page.section("What does a relaunched app have?").blocks(of: "sh")
        try #require(relaunches.count == 1)
        try await SegueCommandLine.inScratch { segue in
            try FileManager.default.createSymbolicLink(
                atPath: "\(segue.directory)/config", withDestinationPath: Repository.path("config"))
            let first = try await segue.shell("set -euo pipefail\n\(start)")
            #expect(first.status == 0 && first.output.contains("Connect Spotify"), "\(first.error)")
            let second = try await segue.shell("set -euo pipefail; export TMPDIR=$PWD\n\(relaunches[0])")
            #expect(second.status == 0 && second.output.contains("bus.json"), "\(second.error)")
            #expect(second.output.matches(of: #/Connect Spotify/#).count >= 2, "\(second.output)")
        }
    }

    private func screens(in folder: String) async throws -> [ScreenInstance] {
        let data = try Data(contentsOf: URL(filePath: "\(folder)/focus-player/bus.json"))
        let bus = EventBus.inMemory(source: "test/1", hub: InMemoryHub(try SavedHub(data)))
        return try await bus.document(Document.NavigationState.self, key: "ios")?.snapshot.state.open ?? []
    }

    @Test("A program that cannot start ends the app with one line that names it", .timeLimit(.minutes(1)))
    func failure() async throws {
        try await SegueCommandLine.inRepository { segue in
            let missing = try await segue.shell("focus-player --in-process --platform ios </dev/null")
            #expect(missing.status == 78)
            #expect(missing.errorLines.count == 1)
            #expect(
                missing.error.hasPrefix("focus-player: auth-service: SPOTIFY_CLIENT_ID is not set"), "\(missing.error)")
            let elsewhere = try await segue.shell(
                "focus-player --in-process --platform ios --bus ipc:///tmp/x </dev/null")
            #expect(elsewhere.status == 64)
            let state = try await segue.shell("focus-player --platform ios --state x </dev/null")
            #expect(state.error.contains("--simulator and --state need --in-process"))
        }
    }
}
