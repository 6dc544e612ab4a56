import Contracts
import Device
import DeviceTestSupport
import EventBus
import Foundation
import Navigation
import Presentation
import Support
import Testing
import Vocabulary

@testable import TerminalDevice

@Suite("Terminal screen")
struct TerminalScreenTests {
    private func lines(
        _ snapshot: NavigationSnapshot, _ documents: any DocumentMessage..., size: TerminalSize? = nil,
        at time: Date = Date()
    ) throws -> [String] {
        var latest = try LatestDocuments.of()
        for document in documents { try latest.receive(.answer(document)) }
        return Scene(player: snapshot, documents: latest).lines(fitting: size, at: time)
    }

    @Test("A phone shows the top of its stack, with numbered choices")
    func stack() throws {
        let snapshot = try NavigationSnapshot.sample(
            root: "playlistSelection", path: [.sample("generatedPlaylist", 2, playlist: "calm")])
        #expect(
            try lines(snapshot, Document.Playlists.two, Document.GeneratedPlaylist.calm) == [
                "ios",
                "",
                "Calm",
                "  1. Rain · Cloud · 3:05",
                "  [1] Play on Spotify",
                "  [2] Open in Spotify",
                "  [3] Now playing",
                "b back   q quit",
            ])
    }

    @Test("A desktop shows the sidebar and the detail column, numbered in sequence")
    func split() throws {
        let detail = ScreenInstance.sample("generatedPlaylist", 2, playlist: "calm")
        let snapshot = try NavigationSnapshot.sample(
            "mac", root: "playlistSelection", container: .split(columns: ["detail": ScreenStack(detail)]))
        #expect(
            try lines(snapshot, Document.Playlists.two, Document.GeneratedPlaylist.calm) == [
                "mac",
                "",
                "Choose a playlist",
                "  [1] Calm · anna · 12 songs",
                "  [2] Rain · bert · 1 song",
                "  [3] Log out of Spotify",
                "── detail ──",
                "Calm",
                "  1. Rain · Cloud · 3:05",
                "  [4] Play on Spotify",
                "  [5] Open in Spotify",
                "  [6] Now playing",
                "q quit",
            ])
    }

    @Test("The selected tab is shown, with choices for back and for the other tabs")
    func tabs() throws {
        let devices = ScreenStack(.sample("deviceActivation", 2), path: [.sample("premiumRequired", 3)])
        let snapshot = try NavigationSnapshot.sample(
            root: "launch",
            container: .tabs(
                [.init("play", devices), .init("lists", ScreenStack(.sample("playlistSelection", 4)))],
                selected: "play"))
        let screen = Scene(player: snapshot, documents: LatestDocuments())
        #expect(screen.layers.map(\.instance) == ["launch-1", "premiumRequired-3"])
        #expect((screen.back?.command as? Command.BackCompleted)?.instance == "premiumRequired-3")
        let tab = try #require(screen.choices.last?.command as? Command.TabSelected)
        #expect(tab.instance == "launch-1")
        #expect(tab.tab == "lists")
    }

    @Test("Back pops the sidebar's path first, then the column's")
    func backInColumn() throws {
        let detail = ScreenStack(.sample("generatedPlaylist", 2), path: [.sample("premiumRequired", 3)])
        func back(path: [ScreenInstance] = [], presentations: [Presentation] = []) throws -> String? {
            let snapshot = try NavigationSnapshot.sample(
                "mac", root: "playlistSelection", container: .split(columns: ["detail": detail]), path: path,
                presentations: presentations)
            return Scene(player: snapshot, documents: LatestDocuments()).back?.instance
        }
        #expect(try back() == "premiumRequired-3")
        #expect(try back(path: [.sample("launch", 4)]) == "launch-4")
        #expect(try back(presentations: [Presentation(.popover, .sample("deviceActivation", 4))]) == nil)
    }

    @Test("A dialog has choices for its buttons, and a mandatory sheet has none to close it")
    func questions() throws {
        let options = PresentationOptions(
            title: "Delete it?",
            buttons: [
                AlertButton(id: "delete", title: "Delete", role: .destructive),
                AlertButton(id: "keep", title: "Keep", role: .cancel),
            ])
        let dialog = Presentation(.dialog, .sample("premiumRequired", 3), options: options)
        let asking = Scene(
            player: try .sample(root: "playlistSelection", presentations: [dialog]), documents: LatestDocuments())
        #expect(asking.choices.map(\.label) == ["Delete", "Keep"])
        #expect(asking.layers.last?.content.title == "Delete it?")
        #expect(asking.dismissal == nil)
        let sheet = Presentation(
            .sheet, .sample("deviceActivation", 3), options: PresentationOptions(interactiveDismissal: false))
        let held = Scene(
            player: try .sample(root: "playlistSelection", presentations: [sheet]), documents: LatestDocuments())
        #expect(held.dismissal == nil)
    }

    @Test("A sheet covers the screen, which is not shown and has no choices")
    func sheet() throws {
        let options = PresentationOptions(detents: [.medium], dragIndicator: true)
        let snapshot = try NavigationSnapshot.sample(
            root: "playlistSelection", path: [.sample("generatedPlaylist", 2)],
            presentations: [Presentation(.sheet, .sample("deviceActivation", 3), options: options)])
        #expect(
            try lines(snapshot, Document.Devices.kitchen, Document.GeneratedPlaylist.calm) == [
                "ios",
                "",
                "Focus playlist …",
                "",
                "┌─ sheet, medium, drag indicator ──",
                "│ Activate a device",
                "│   No device is playing. Pick the one to play on.",
                "│   [1] Kitchen · Speaker",
                "│   [2] Open Spotify",
                "└──",
                "d dismiss   q quit",
            ])
    }

    /// The playing screen as a sheet over a focus playlist.
    private static func nowPlaying() throws -> NavigationSnapshot {
        let options = PresentationOptions(detents: [.large], dragIndicator: true)
        return try .sample(
            root: "playlistSelection", path: [.sample("generatedPlaylist", 2)],
            presentations: [Presentation(.sheet, .sample("nowPlaying", 3), options: options)])
    }

    @Test("The playing screen shows the position at the time of the drawing")
    func nowPlaying() throws {
        let document = Document.NowPlaying(status: .following, playback: .rain)
        #expect(
            try lines(Self.nowPlaying(), document, at: Date(timeIntervalSince1970: 10)) == [
                "ios",
                "",
                "Focus playlist …",
                "",
                "┌─ sheet, large, drag indicator ──",
                "│ Now playing",
                "│   Rain · Cloud · Weather",
                "│   Playing · 1:15 of 4:00",
                "│   Kitchen · Speaker · volume 40 %",
                "│   [1] Pause",
                "│   [2] Next song",
                "│   [3] Previous song",
                "│   [4] Louder: 50 %",
                "│   [5] Quieter: 30 %",
                "│   [6] Go to the start, 0:00",
                "│   [7] Go to a quarter, 1:00",
                "│   [8] Go to the half, 2:00",
                "│   [9] Go to three quarters, 3:00",
                "└──",
                "d dismiss   q quit",
            ])
    }

    @Test("A change of the position redraws only its line")
    func update() throws {
        let documents = try LatestDocuments.of(Document.NowPlaying(status: .following, playback: .rain))
        let scene = Scene(player: try Self.nowPlaying(), documents: documents)
        let size = TerminalSize(columns: 80, rows: 24)
        let times = [0, 1, 1.2, 2].map { Date(timeIntervalSince1970: $0) }
        var painter = Painter(waiting: "")
        #expect(painter.drawing(of: scene, size: size, at: times[0]).description.contains("Playing · 1:05 of 4:00\n"))
        let line = "\u{1B}7\u{1B}[8;1H\u{1B}[2K│   Playing · 1:06 of 4:00\u{1B}8"
        #expect(painter.drawing(of: scene, size: size, at: times[1]).description == line)
        #expect(painter.drawing(of: scene, size: size, at: times[2]).isEmpty)
        // The end of a line that a person enters may scroll the terminal.
        painter.forgetDrawing()
        #expect(painter.drawing(of: scene, size: size, at: times[3]).description.hasSuffix("\n> "))
    }

    @Test("The user's input stays below scenes with more or fewer lines")
    func typing() throws {
        let player = Scene(
            player: try Self.nowPlaying(),
            documents: try LatestDocuments.of(Document.NowPlaying(status: .following, playback: .rain)))
        let size = TerminalSize(columns: 80, rows: 24)
        var painter = Painter(waiting: "Waiting for the bus…")
        var screen = TerminalScreen(columns: size.columns, rows: size.rows)
        screen.write(painter.drawing(of: nil, size: size, at: .now).description)
        screen.write("Pau")
        for scene in [player, nil, player] {
            screen.write(painter.drawing(of: scene, size: size, at: .now).description)
            screen.write("s")
            let lines = scene?.lines(fitting: size) ?? [painter.waiting]
            #expect(
                screen.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                    == lines[...].map { $0[...] }[...])
        }
        #expect(screen.text.hasSuffix("\n> Pausss"))
        screen.write(painter.addNote("A note", of: nil, on: player, size: size, at: .now).description)
        #expect(screen.text.hasSuffix("q quit\nA note\n> Pausss"))
    }

    @Test("The whole screen is drawn when the terminal's size has changed, or when the scene may have scrolled it")
    func wholeScreen() throws {
        let scene = Scene(player: try Self.nowPlaying(), documents: try LatestDocuments.of())
        var painter = Painter(waiting: "Waiting")
        for (columns, rows) in [(80, 24), (79, 24), (79, 25), (79, 2), (79, 2), (79, 25)] {
            let size = TerminalSize(columns: columns, rows: rows)
            #expect(painter.drawing(of: scene, size: size, at: .now).description.hasPrefix("\u{1B}[H\u{1B}[2J"))
        }
        #expect(painter.drawing(of: scene, size: TerminalSize(columns: 79, rows: 25), at: .now).isEmpty)
    }

    @Test("A position moves only while it runs, on a screen that is not covered")
    func seconds() throws {
        func wait(_ playback: Playback, _ snapshot: NavigationSnapshot, at seconds: Double) throws -> Duration? {
            let documents = try LatestDocuments.of(Document.NowPlaying(status: .following, playback: playback))
            return Scene(player: snapshot, documents: documents)
                .timeToNextSecond(at: Date(timeIntervalSince1970: seconds))
        }
        #expect(try wait(.rain, Self.nowPlaying(), at: 3.4) == .milliseconds(600))
        #expect(try wait(.rain, Self.nowPlaying(), at: 175) == nil, "at the end of the song")
        var paused = Playback.rain
        paused.isPlaying = false
        #expect(try wait(paused, Self.nowPlaying(), at: 3.4) == nil)
        let covered = try NavigationSnapshot.sample(
            root: "nowPlaying", presentations: [Presentation(.sheet, .sample("deviceActivation", 3))])
        #expect(try wait(.rain, covered, at: 3.4) == nil)
    }

    @Test("A popover covers both columns")
    func popover() throws {
        let snapshot = try NavigationSnapshot.sample(
            "mac", root: "playlistSelection",
            container: .split(columns: ["detail": ScreenStack(.sample("generatedPlaylist", 2))]),
            presentations: [Presentation(.popover, .sample("deviceActivation", 3))])
        #expect(
            try lines(snapshot, Document.Devices(devices: [])) == [
                "mac",
                "",
                "Choose a playlist …",
                "── detail ──",
                "Focus playlist …",
                "",
                "┌─ popover ──",
                "│ Activate a device",
                "│   No device was found. Open Spotify on one, close this and play again.",
                "│   [1] Open Spotify",
                "└──",
                "d dismiss   q quit",
            ])
    }

    @Test("An alert has the flow's text and buttons, and cannot be swiped away")
    func alert() throws {
        let options = PresentationOptions(
            title: "Premium required", message: "Spotify says so.",
            buttons: [
                AlertButton(id: "open", title: "Open", sends: "command.DidRequestOpenPlaylistOnSpotify"),
                AlertButton(id: "cancel", title: "Cancel"),
            ])
        let snapshot = try NavigationSnapshot.sample(
            root: "playlistSelection",
            presentations: [Presentation(.alert, .sample("premiumRequired", 3), options: options)])
        #expect(
            try lines(snapshot) == [
                "ios",
                "",
                "Choose a playlist …",
                "",
                "┌─ alert ──",
                "│ Premium required",
                "│   Spotify says so.",
                "│   [1] Open",
                "│   [2] Cancel",
                "└──",
                "q quit",
            ])
        let screen = Scene(player: snapshot, documents: LatestDocuments())
        let answer = try #require(screen.choices[1].command as? Command.AlertAnswered)
        #expect(answer.instance == "premiumRequired-3")
        #expect(answer.button == "cancel")
    }

    @Test("A banner is above any screen")
    func banner() throws {
        let error = ApplicationError(code: "a.b", message: "It broke", recovery: "Mend it.", severity: .warning)
        #expect(
            try lines(.sample(root: "launch"), Document.ErrorBanner(errorID: "e1", error: error, waiting: 2)) == [
                "ios",
                "(!) It broke · Mend it. (2 more)",
                "",
                "Focus Player",
                "  Starting…",
                "x dismiss the error   q quit",
            ])
    }

    @Test("A list that is loading, empty or failed says so")
    func lists() throws {
        let playlists = try NavigationSnapshot.sample(root: "playlistSelection")
        #expect(try lines(playlists).contains("  Loading your playlists…"))
        #expect(
            try lines(playlists, Document.Playlists(playlists: [])).contains(
                "  There are no playlists in this account."))
        let generated = try NavigationSnapshot.sample(root: "generatedPlaylist")
        #expect(try lines(generated).contains("  Shuffling…"))
        #expect(
            try lines(generated, Document.GeneratedPlaylist(playlistID: "p", status: .failed)).contains(
                "  This playlist could not be loaded."))
    }

    @Test("A number cannot be used while a list is loading")
    func loading() throws {
        let snapshot = try NavigationSnapshot.sample(root: "playlistSelection")
        #expect(Scene(player: snapshot, documents: LatestDocuments()).isLoading)
        #expect(try !Scene(player: snapshot, documents: LatestDocuments.of(Document.Playlists.two)).isLoading)
    }

    @Test("A name from outside cannot add control sequences")
    func controlCharacters() throws {
        let evil = Playlist(id: "e", name: "\u{1B}[2JCalm\r\n\u{7}\u{202E}evil", owner: "a\u{9B}b", songCount: 2)
        let lines = try lines(.sample(root: "playlistSelection"), Document.Playlists(playlists: [evil]))
        #expect(lines.contains(#"  [1] \u001b[2JCalm  \u0007\u202eevil · a\u009bb · 2 songs"#))
    }

    @Test("A note that is not drawn on a terminal is one line without control characters")
    func note() {
        var painter = Painter(waiting: "")
        let time = Date(timeIntervalSince1970: 0)
        let note = painter.addNote("a\u{1B}[2J\nforged\u{9B}b", of: nil, on: nil, size: nil, at: time)
        #expect(note.description == "a\\u001b[2J forged\\u009bb\n")
    }

    @Test("A list that is too long is cut to the terminal's height, and all of it can be chosen")
    func height() throws {
        let size = TerminalSize(columns: 40, rows: 10)
        let documents = try LatestDocuments.of(Document.Playlists.many(50))
        let screen = try Scene(player: .sample(root: "playlistSelection"), documents: documents)
        #expect(
            screen.lines(fitting: size) == [
                "ios",
                "",
                "Choose a playlist",
                "  [1] List 1 · anna · 2 songs",
                "  [2] List 2 · anna · 2 songs",
                "  [3] List 3 · anna · 2 songs",
                "  [4] List 4 · anna · 2 songs",
                "  … 46 more, by number or name",
                "  [51] Log out of Spotify",
                "q quit",
            ])
        #expect(screen.choice(for: Answer("48"))?.label.hasPrefix("List 48 ·") == true)
    }

    @Test("A list that is too long begins with its last page")
    func lastPage() throws {
        let songs = (1...30).map { Song(id: "s\($0)", uri: "u", title: "T\($0)", artist: "A", duration: 1000) }
        var generated = Document.GeneratedPlaylist(playlistID: "calm", status: .ready, songs: Array(songs[..<20]))
        generated.total = songs.count
        var session = SessionScript(.interactive)
        _ = try session.show(.sample(root: "generatedPlaylist"))
        _ = try session.handle(.message(.answer(generated)))
        let query = try #require(try session.handle(.line("Show more")).asked.first)
        _ = try session.handle(.answer(.success(.page(Array(songs[20...]), total: 30)), to: query.id))
        let scene = try #require(session.session.scene)
        #expect(scene.lines().filter { $0.contains(" · A · ") }.count == 30)
        let limited = scene.lines(fitting: TerminalSize(columns: 40, rows: 11))
        #expect(
            limited[3...6] == ["  … 20 before", "  21. T21 · A · 0:01", "  … 8 more", "  30. T30 · A · 0:01"])
    }

    @Test("Two lists share the height", arguments: 8...60)
    func sharedHeight(rows: Int) throws {
        let songs = (1...20).map { Song(id: "s\($0)", uri: "u", title: "T\($0)", artist: "A", duration: 1000) }
        let documents = try LatestDocuments.of(
            Document.Playlists.many(20),
            Document.GeneratedPlaylist(playlistID: "calm", status: .ready, songs: songs))
        let snapshot = try NavigationSnapshot.sample(
            "mac", root: "playlistSelection",
            container: .split(columns: ["detail": ScreenStack(.sample("generatedPlaylist", 2, playlist: "calm"))]))
        let lines = Scene(player: snapshot, documents: documents)
            .lines(fitting: TerminalSize(columns: 80, rows: rows))
        // On a terminal with fewer than 12 rows, the scene can have more lines than the terminal has rows.
        #expect(lines.count <= max(rows, 12))
        #expect(lines.contains { $0.contains("Log out of Spotify") })
    }

    @Test("Long text is broken between words")
    func wrapping() throws {
        let error = ApplicationError(code: "a.b", message: "One two three four five", severity: .info)
        let lines = try lines(
            .sample(root: "launch"), Document.ErrorBanner(errorID: "e1", error: error),
            size: TerminalSize(columns: 18, rows: 24))
        #expect(lines[1...2] == ["(i) One two three", "(i) four five"])
    }
}
