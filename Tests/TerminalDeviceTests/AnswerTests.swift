import Contracts
import Device
import DeviceTestSupport
import EventBus
import Navigation
import Presentation
import Testing
import Vocabulary

@testable import TerminalDevice

@Suite("Answers")
struct AnswerTests {
    private func screen() throws -> Scene {
        let playlists = Document.Playlists(playlists: [
            Playlist(id: "calmer", name: "Calmer", owner: "anna", songCount: 3),
            Playlist(id: "calm", name: "Calm", owner: "anna", songCount: 12),
        ])
        return try Scene(player: .sample(root: "playlistSelection"), documents: LatestDocuments.of(playlists))
    }

    @Test(
        "A choice is selected by number, label, beginning of a label, or command",
        arguments: [
            ("2", "calm"), ("1", "calmer"), ("Calm", "calm"), ("calmer", "calmer"), ("cal", "calmer"),
            ("Calm · anna · 12 songs", "calm"), ("  calm ", "calm"), ("PlaylistSelected", "calmer"),
            ("PlaylistSelected calm", "calm"), ("command.PlaylistSelected calm", "calm"),
        ])
    func picks(line: String, playlistID: String) throws {
        let command = try screen().choice(for: Answer(line))?.command
        #expect((command as? Command.PlaylistSelected)?.playlistID == playlistID)
    }

    @Test(
        "A choice that is not on the screen cannot be selected",
        arguments: [
            "0", "4", "-1", "-9223372036854775808", "9223372036854775807", "Storm", "PlaylistSelected x", "b", "d", "x",
            "o", "",
        ]
    )
    func misses(line: String) throws {
        #expect(try screen().choice(for: Answer(line)) == nil)
    }

    @Test("Back and dismiss name the instance in front")
    func reports() throws {
        let sheet = Presentation(.sheet, .sample("deviceActivation", 3))
        let behind = try Scene(
            player: .sample(root: "playlistSelection", path: [.sample("generatedPlaylist", 2)]),
            documents: LatestDocuments())
        #expect((behind.choice(for: .back)?.command as? Command.BackCompleted)?.instance == "generatedPlaylist-2")
        #expect(behind.choice(for: .dismiss) == nil)
        let covered = try Scene(
            player: .sample(root: "playlistSelection", path: [.sample("generatedPlaylist", 2)], presentations: [sheet]),
            documents: LatestDocuments())
        #expect(covered.choice(for: .back) == nil)
        let dismissal = covered.choice(for: .dismiss)?.command as? Command.PresentationDismissed
        #expect(dismissal?.instance == "deviceActivation-3")
    }
}
