import CommandLineTestSupport
import Foundation
import TestSupport
import Testing

@Suite("Playlist that is too long for one message")
struct LongPlaylistTests {
    @Test("A long playlist is shown whole, page by page, in the order of its songs", .timeLimit(.minutes(5)))
    func pages() async throws {
        try await SegueCommandLine.inScratch { segue in
            // Of such songs, 512 KiB contain about 900. A range has at most 1000 songs.
            let title = String(repeating: "x", count: 400)
            let songs = ["1..999", "1000..1900", "1901..2500"].map { "\(title) \($0)" }.joined(separator: "; ")
            try segue.write(
                """
                user: { id: me, name: Me, email: me@example.com }
                clients: [{ id: segue-focus-player, redirect_uris: ["http://127.0.0.1/callback"] }]
                devices: []
                playlists: [{ id: Long, name: Long, songs: ["A / B: \(songs)"] }]
                """, to: "catalogue.yaml")
            try segue.write(
                """
                services:
                  spotify-simulator: { command: spotify-simulator --catalogue \(segue.directory)/catalogue.yaml }
                """, to: "long.yaml")
            try segue.write(
                #"exec curl --silent --location --data "${1#*\?}&decision=approve" "${1%%\?*}""#, to: "browser")
            let result = try await segue.shell(
                """
                set -euo pipefail
                segue up -d --wait -f '\(Repository.path("compose/default.yaml"))' -f long.yaml
                printf '%s\\n' 'Connect Spotify' 'Long' 'Show more' 'Show more' |
                    focus-player --platform ios -p segue --open 'sh browser' > shown
                """)
            try #require(result.status == 0, "\(result.error)")
            let shown = try String(contentsOfFile: "\(segue.directory)/shown", encoding: .utf8)
            let drawings = shown.components(separatedBy: "\nios\n")
            let notes = drawings.compactMap { $0.firstMatch(of: #/… and (\d+) more/#)?.1 }.compactMap { Int($0) }
            #expect(Set(notes).count == 2 && notes.sorted(by: >) == notes, "\(notes)")
            let last = try #require(drawings.last)
            let rows = last.matches(of: #/\n  (\d+)\. x+ (\d+) · A · /#).compactMap { match in
                Int(match.1).flatMap { place in Int(match.2).map { (place, $0) } }
            }
            #expect(rows.map(\.0) == Array(1...2500))
            #expect(Set(rows.map(\.1)) == Set(1...2500), "each song once")
            #expect(rows.map(\.1) != Array(1...2500), "they are shuffled")
            #expect(!last.contains("Show more"))
        }
    }
}
