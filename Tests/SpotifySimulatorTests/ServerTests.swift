import Foundation
import Logging
import SpotifyTestSupport
import TestSupport
import Testing

@testable import SpotifySimulator

@Suite("Server")
struct ServerTests {
    @Test("serves on a free port, and links lead back to it")
    func realSocket() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let page: Listing<ListedPlaylist> = try await spotify.get("/v1/me/playlists", token: token).decoded()
            #expect(page.next == "\(spotify.base)/v1/me/playlists?offset=20&limit=20")
        }
    }

    @Test("a port in use is one line with the port and the flag")
    func portInUse() async throws {
        try await withSimulator { spotify in
            let port = try #require(Int(spotify.base.split(separator: ":").last ?? ""))
            let second = try SpotifySimulator(
                catalogue: Catalogue(contentsOf: SimulatedSpotify.catalogue),
                configuration: .init(port: port),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
            let error = await #expect(throws: SpotifySimulatorError.self) { try await second.run() }
            #expect(error?.code == "simulator.portInUse")
            #expect(error?.description.contains("\(port)") == true)
            #expect(error?.description.contains("--port") == true)
        }
    }

    @Test("with a state file, what the user approved and what plays outlive the process; the file holds no token")
    func stateFile() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let file = scratch.path("state/state.json")

        let tokens = try await withSimulator(stateFile: file) { spotify in
            let tokens = try await spotify.signIn()
            let body = #"{"context_uri":"spotify:playlist:DeepFocus"}"#
            #expect(try await spotify.put("/v1/me/player/play", body, token: tokens.accessToken).status == 204)
            return tokens
        }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!text.contains(tokens.accessToken))
        let refreshToken = try #require(tokens.refreshToken)
        #expect(!text.contains(refreshToken))

        try await withSimulator(stateFile: file) { spotify in
            #expect(try await spotify.get("/v1/me", token: tokens.accessToken).status == 200)
            #expect(try await spotify.refresh(tokens.refreshToken).status == 200)
            let state = try await spotify.controlState()
            #expect(state.playback?.context == "spotify:playlist:DeepFocus")
        }

        let stored = try String(contentsOfFile: file, encoding: .utf8)
        let damaged = [
            stored.replacing(#""grant":0"#, with: #""grant":7"#), stored.replacing(#""grant":0"#, with: #""grant":-1"#),
            stored.replacing(#""refreshCount":1"#, with: #""refreshCount":9223372036854775807"#),
        ]
        for text in damaged + ["{"] {
            #expect(text != stored)
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let error = await #expect(throws: SpotifySimulatorError.self) {
                try await withSimulator(stateFile: file) { _ in }
            }
            #expect(error?.description.hasPrefix("\(file): ") == true)
        }
    }
}
