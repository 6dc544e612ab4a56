import Contracts
import Device
import DeviceTestSupport
import EventBus
import Foundation
import Logging
import Navigation
import SegueTestSupport
import Support
import Synchronization
import TestSupport
import Testing
import Vocabulary

@testable import TerminalDevice

@Suite("Terminal device", .timeLimit(.minutes(1)))
struct TerminalDeviceTests {
    let fixture = DeviceFixture()

    @Test("A script leads a phone through the story")
    func phone() async throws {
        let lines = ["1", "2", "1", "Kitchen", "@generatedPlaylist", "b"]
        try await fixture.withApp {
            try await fixture.device("ios", lines: lines).run()
            #expect(try await fixture.state("ios").active.map(\.screen) == ["playlistSelection"])
        }
        let text = fixture.transcript.text
        #expect(text.contains("> 1 (Connect Spotify)\n"))
        #expect(text.contains("Open https://accounts.example/authorize\n"))
        #expect(text.contains("> 2 (Rain · bert · 1 song)\n"))
        #expect(text.contains("┌─ sheet, medium, drag indicator ──\n│ Activate a device\n"))
        let selected = try await fixture.view.received(Command.DeviceSelected.self)[0]
        #expect(selected.attributes.device == "ios-1")
        #expect(try selected.decode(Command.DeviceSelected.self).deviceID == "k")
    }

    @Test("A script leads a desktop through the story, and no message of it comes too late")
    func desktop() async throws {
        let lines = ["Connect Spotify", "Calm", "Rain", "Play on Spotify", "d"]
        try await fixture.withApp {
            try await fixture.device("mac", lines: lines).run()
            let state = try await fixture.state("mac")
            #expect(state.active.map(\.screen) == ["playlistSelection", "generatedPlaylist"])
            #expect(state.active.last?.arguments == ["playlistID": "rain"])
        }
        #expect(fixture.transcript.text.contains("┌─ popover ──\n│ Activate a device\n"))
        #expect(try await fixture.view.journalled(DomainEvent.MessageDiscarded.self).isEmpty)
    }

    @Test("A script loads the other songs of a long playlist, and continues if there are none")
    func pages() async throws {
        let lines = ["Connect Spotify", "Rain", "Show more", "b", "Calm", "Show more", "Show more", "b"]
        try await fixture.withApp(songs: 5) {
            try await fixture.device("ios", lines: lines).run()
            #expect(try await fixture.state("ios").active.map(\.screen) == ["playlistSelection"])
        }
        let text = fixture.transcript.text
        #expect(text.contains("No songs\n"), "the answer about the first playlist is an error")
        #expect(text.contains("  2. Song 2 · A · 0:01\n  … and 3 more\n"))
        #expect(text.contains("  3. Song 3 · A · 0:01\n  … and 2 more\n"))
    }

    @Test("A script controls the playback on the playing screen")
    func nowPlaying() async throws {
        let lines = [
            "Connect Spotify", "Calm", "Now playing", "Pause", "Next song", "Louder", "Go to the half", "Resume", "d",
        ]
        let now = Date(timeIntervalSince1970: 0)
        try await fixture.withApp {
            let input = AsyncStream<String?> { continuation in
                for line in lines { continuation.yield(line) }
                continuation.finish()
            }
            try await fixture.device("ios", lines: input, now: { now }).run()
            #expect(try await fixture.state("ios").active.map(\.screen) == ["generatedPlaylist"])
        }
        let text = fixture.transcript.text
        #expect(text.contains("│   Rain · Cloud · Weather\n│   Paused · 1:05 of 4:00\n"))
        #expect(text.contains("│   Snow · Cloud · Weather\n│   Paused · 0:00 of 4:00\n"))
        #expect(text.contains("> Louder (Louder: 50 %)\n"))
        #expect(text.contains("│   Playing · 2:00 of 4:00\n│   Kitchen · Speaker · volume 50 %\n"))
        let volume = try await fixture.view.received(Command.VolumeRequested.self)[0]
        #expect(try volume.decode(Command.VolumeRequested.self).percent == 50)
        let position = try await fixture.view.received(Command.SeekRequested.self)[0]
        #expect(try position.decode(Command.SeekRequested.self).position == 120_000)
    }

    @Test("The position moves each second on a user's playing screen while music plays")
    func movingPosition() async throws {
        let (lines, typed) = AsyncStream.makeStream(of: String?.self)
        let clock = ManualClock()
        let now = Mutex(Date(timeIntervalSince1970: 0))
        try await fixture.withApp {
            try await withThrowingTaskGroup { group in
                let device = fixture.device(
                    "ios", lines: lines, mode: .interactive, size: TerminalSize(columns: 80, rows: 24), clock: clock,
                    now: { now.withLock(\.self) })
                group.addTask { try await device.run() }
                for (screen, line) in [
                    ("[1] Connect", "1"), ("Choose a playlist", "Calm"), ("[3] Now playing", "Now playing"),
                ] {
                    try await fixture.transcript.shows { $0.contains(screen) && !$0.contains("Loading") }
                    typed.yield(line)
                }
                try await fixture.transcript.shows { $0.contains("Playing · 1:05 of 4:00") }
                for second in 1...2 {
                    try await clock.sleepers()
                    now.withLock { $0 = Date(timeIntervalSince1970: Double(second)) }
                    clock.advance(by: .seconds(1))
                    try await fixture.transcript.shows { $0.contains("Playing · 1:0\(5 + second) of 4:00\n") }
                }
                typed.yield("Pause")
                try await fixture.transcript.shows { $0.contains("Paused · 1:05 of 4:00") }
                typed.yield("q")
                try await group.waitForAll()
            }
        }
    }

    @Test("Two devices show one session, each with its own platform")
    func twoPlatforms() async throws {
        try await fixture.withApp {
            try await fixture.device("ios", lines: ["Connect Spotify", "Calm"]).run()
            try await fixture.device("mac", lines: ["@generatedPlaylist"]).run()
        }
        let urls = try await fixture.view.journalled(DomainEvent.URLOpenRequested.self)
        #expect(urls.map(\.attributes.platform) == ["ios"])
    }

    @Test("Two devices of one platform show the same, and one continues when the other leaves")
    func onePlatform() async throws {
        try await fixture.withApp {
            try await withThrowingTaskGroup { group in
                let leaving = fixture.device(
                    "ios", number: 1, lines: ["Connect Spotify", "Calm", "@generatedPlaylist"])
                let lines = ["@generatedPlaylist", "b", "Rain", "@generatedPlaylist", "b", "@playlistSelection"]
                let staying = fixture.device("ios", number: 2, lines: lines)
                group.addTask { try await leaving.run() }
                group.addTask { try await staying.run() }
                try await group.waitForAll()
            }
            let state = try await fixture.state("ios")
            #expect(state.active.map(\.screen) == ["playlistSelection"])
        }
        let gone = try await fixture.view.journalled(Command.ScreenGone.self)
        let dismissals = try await fixture.view.journalled(DomainEvent.ScreenDismissed.self)
        #expect(dismissals.filter { $0.attributes.platform == "ios" }.count == 4)
        #expect(Set(gone.compactMap(\.attributes.device)).count == 2, "both say what has left their screen")
        #expect(try await fixture.view.journalled(DomainEvent.MessageDiscarded.self).isEmpty)
        let urls = try await fixture.view.journalled(DomainEvent.URLOpenRequested.self)
        #expect(urls.map(\.attributes.device) == ["ios-1"])
    }

    @Test("A device can have its own session")
    func session() async throws {
        try await fixture.withApp {
            try await fixture.device("ios", subject: "anna", lines: ["@serviceSelection"]).run()
            #expect(try await fixture.state("ios").root.instance.screen == "launch")
            #expect(try await fixture.state("ios", subject: "anna").root.instance.screen == "serviceSelection")
        }
    }

    @Test("A screen that leaves is reported as gone")
    func leaving() async throws {
        try await fixture.withApp {
            try await fixture.device("ios", lines: ["@serviceSelection"]).run()
            let gone = try await fixture.view.received(Command.ScreenGone.self)[0]
            #expect(try gone.decode(Command.ScreenGone.self).instance == "launch-1")
        }
    }

    @Test("A user's terminal is redrawn, and quits at once")
    func interactive() async throws {
        try await fixture.withApp {
            try await fixture.device(
                "ios", lines: ["nonsense", "q"], mode: .interactive, size: TerminalSize(columns: 80, rows: 24)
            ).run()
        }
        let text = fixture.transcript.text
        #expect(text.hasPrefix("\u{1B}[H\u{1B}[2JWaiting for the bus at memory:…\n> "))
        #expect(text.contains("There is no 'nonsense' to pick here."))
    }

    @Test("A note is removed when another story shows another screen, and when a line is entered")
    func notes() async throws {
        let (lines, typed) = AsyncStream.makeStream(of: String?.self)
        try await fixture.withApp {
            try await withThrowingTaskGroup { group in
                let device = fixture.device(
                    "ios", lines: lines, mode: .interactive, size: TerminalSize(columns: 80, rows: 24))
                group.addTask { try await device.run() }
                try await fixture.transcript.contains("[1] Connect")
                try await fixture.view.publish(DomainEvent.PlaybackStarted())
                try await fixture.transcript.shows { $0.contains("Spotify plays.") }
                try await fixture.view.publish(DomainEvent.SpotifyAuthorizationUpdated(status: .authorized))
                try await fixture.transcript.shows {
                    $0.contains("Choose a playlist") && !$0.contains("Spotify plays.")
                }
                try await fixture.view.publish(DomainEvent.PlaybackStarted())
                try await fixture.transcript.shows { $0.contains("Spotify plays.") }
                typed.yield("nonsense")
                try await fixture.transcript.shows { $0.contains("nonsense") && !$0.contains("Spotify plays.") }
                typed.yield("q")
                try await group.waitForAll()
            }
        }
    }

    @Test("Each log line is shown once as a note below the screen")
    func logged() async throws {
        let (lines, typed) = AsyncStream.makeStream(of: String?.self)
        let log = ScreenLog()
        var logger = Logger(label: "device", factory: { log.handler(label: $0) })
        logger[metadataKey: "bus"] = "ipc:///run/a"
        try await fixture.withApp { [logger] in
            try await withThrowingTaskGroup { group in
                let device = fixture.device(
                    "ios", lines: lines, mode: .interactive, size: TerminalSize(columns: 80, rows: 24), log: log)
                group.addTask { try await device.run() }
                try await fixture.transcript.contains("[1] Connect")
                logger.warning("no broker answers")
                logger.warning("no broker answers")
                logger.warning("nothing")
                try await fixture.transcript.shows {
                    $0.contains("warning: no broker answers (bus=ipc:///run/a)\nwarning: nothing") && $0.hasSuffix("> ")
                }
                typed.yield("q")
                try await group.waitForAll()
            }
        }
    }

    @Test("The whole URL is a link below a user's screen, and o reports if no command can open URLs")
    func link() async throws {
        try await fixture.withApp {
            let (lines, typed) = AsyncStream.makeStream(of: String?.self)
            try await withThrowingTaskGroup { group in
                let device = fixture.device(
                    "ios", lines: lines, mode: .interactive, size: TerminalSize(columns: 20, rows: 24))
                group.addTask { try await device.run() }
                try await fixture.transcript.contains("[1] Connect")
                let request = DomainEvent.URLOpenRequested(url: "https://accounts.example/authorize")
                try await fixture.view.publish(request, origin: Origin(platform: "ios"))
                try await fixture.transcript.contains("\u{1B}]8;id=segue;https://accounts.example/authorize\u{1B}\\")
                typed.yield("o")
                try await fixture.transcript.contains("No program to open")
                typed.yield("q")
                try await group.waitForAll()
            }
        }
        let text = fixture.transcript.text
        #expect(text.contains("\\https://accounts.exa\u{1B}") && text.contains("\\mple/authorize\u{1B}"))
    }

    @Test("A device can start before the bus")
    func lateBus() async throws {
        let clock = ManualClock()
        let bus = UnreliableBus(EventBus.inMemory(source: "device/ios", hub: fixture.hub), failures: 3)
        try await fixture.withApp {
            try await withThrowingTaskGroup { group in
                let device = fixture.device("ios", lines: ["@serviceSelection"], on: bus.bus, clock: clock)
                group.addTask { try await device.run() }
                for _ in 0..<3 {
                    // One of the two sleepers is the deadline of the line.
                    try await clock.sleepers(2)
                    clock.advance(by: .seconds(1))
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("A script that cannot continue fails")
    func timeout() async throws {
        let clock = ManualClock()
        try await fixture.withApp {
            let device = fixture.device("ios", lines: ["Storm"], clock: clock)
            let error = await #expect(throws: DeviceFailure.self) {
                try await withThrowingTaskGroup { group in
                    group.addTask { try await device.run() }
                    group.addTask {
                        try await clock.sleepers()
                        clock.advance(by: .seconds(30))
                    }
                    try await group.waitForAll()
                }
            }
            #expect(error?.message.hasPrefix("'Storm' could not be picked within 30.0 seconds; ") == true)
        }
    }
}
