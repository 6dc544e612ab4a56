import Foundation
import SegueTestSupport
import Testing

@Suite("What the documents say")
struct DocumentTests {
    @Test("the README's story runs as it stands, line by line", .timeLimit(.minutes(5)))
    func story() async throws {
        try await Shell.inScratch { shell in
            let story = try #require(try Page("README.md").blocks(of: "sh").dropFirst().first)
            try await shell.run("segue up -d --wait -f compose/default.yaml")
            let output = try await shell.run(story)
            try await shell.run("segue down -f compose/default.yaml")
            for expected in [
                "unauthorized", "Spotify is connected", "Endless Focus", "event.PlaylistShuffled",
                "event.PlaybackStarted",
                "generatedPlaylist", "deauthorized",
            ] {
                #expect(output.contains(expected))
            }
        }
    }

    @Test("a person at the terminal device gets from the launch to the music", .timeLimit(.minutes(5)))
    func device() async throws {
        try await Shell.inScratch { shell in
            try await shell.run("segue up -d --wait -f compose/default.yaml")
            try await shell.write(
                "browser",
                "#!/bin/sh\nexec curl --silent --location --data \"${1#*\\?}&decision=approve\" \"${1%%\\?*}\"\n")
            let output = try await shell.run(
                """
                printf '%s\\n' 'Connect Spotify' 'Endless Focus' 'Play on Spotify' |
                    device --platform ios --open "$SCRATCH/browser"
                segue monitor --type event.PlaybackStarted --since beginning --count 1
                segue get NavigationState mac --json
                """)
            #expect(output.contains("event.PlaybackStarted"))
            #expect(output.contains(#""screen":"generatedPlaylist""#), "the other platform follows")
            try await shell.run("segue down -f compose/default.yaml")
        }
    }

    @Test(
        "every verb that a document shows is there",
        arguments: ["README.md", "CONTRIBUTING.md", "docs/try.txt", "docs/flows.md", "docs/architecture.md"])
    func verbs(path: String) async throws {
        let text = try Page(path).text
        let verbs = Set(text.matches(of: #/\bsegue ([a-z]+)\b/#).map { String($0.1) })
        try await Shell.inScratch { shell in
            for verb in verbs {
                try await shell.run("segue \(verb) --help")
            }
        }
    }
}
