import Foundation
import Logging
import SpotifyTestSupport
import TestSupport
import Testing

@testable import SpotifySimulator

@Suite("Server")
struct ServerTests {
    @Test("The simulator listens only on 127.0.0.1, on a free port, and its links lead back to it")
    func realSocket() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let page: Listing<ListedPlaylist> = try await spotify.get("/v1/me/playlists", token: token).decoded()
            #expect(page.next == "\(spotify.base)/v1/me/playlists?offset=20&limit=20")
            let port = try #require(Int(spotify.base.split(separator: ":").last ?? ""))
            #expect(throws: RawConnection.Refused.self) { try RawConnection(port: port, address: "127.0.0.2") }
        }
    }

    @Test("Any number of connections does not stop the server")
    func crowd() async throws {
        try await withSimulator { spotify in
            let port = try #require(Int(spotify.base.split(separator: ":").last ?? ""))
            let crowd = try (0..<560).map { _ in
                let connection = try RawConnection(port: port)
                connection.send(
                    """
                    POST /api/token HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 9\r
                    Content-Type: application/x-www-form-urlencoded\r\n\r\na
                    """)
                return connection
            }
            #expect(try await spotify.signIn().refreshToken != nil)
            #expect(crowd[0].isClosed && !crowd[559].isClosed)
        }
    }

    @Test(
        "Requests of other sites are refused, also under a name that leads here",
        arguments: [
            ("127.0.0.1:{port}", "http://evil.example"), ("127.0.0.1:{port}", "null"), ("evil.example:{port}", nil),
            ("evil.example:{port}", "http://evil.example:{port}"), ("127.0.0.1", nil),
        ] as [(String, String?)])
    func foreign(host: String, origin: String?) async throws {
        try await withSimulator { spotify in
            let port = spotify.base.split(separator: ":").last ?? ""
            for path in ["/_control/reset", "/_control/revoke", "/_control/faults", "/authorize", "/api/token"] {
                let host = host.replacing("{port}", with: port)
                let line = origin.map { "Origin: \($0.replacing("{port}", with: port))\r\n" } ?? ""
                let answer = try await RawExchange.answer(
                    to:
                        "POST \(path) HTTP/1.1\r\nHost: \(host)\r\n\(line)Content-Length: 0\r\nConnection: close\r\n\r\n",
                    from: spotify.base)
                #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(path): \(answer)")
            }
            let own = try await RawExchange.answer(
                to: """
                    POST /_control/reset HTTP/1.1\r\nHost: {host}\r\nOrigin: \(spotify.base)\r
                    Content-Length: 0\r\nConnection: close\r\n\r\n
                    """, from: spotify.base)
            #expect(own.hasPrefix("HTTP/1.1 2"), "\(own)")
        }
    }

    @Test("A port in use is refused in one line with the port and the flag")
    func portInUse() async throws {
        try await withSimulator { spotify in
            let port = try #require(Int(spotify.base.split(separator: ":").last ?? ""))
            let second = try SpotifySimulator(
                catalogue: Catalogue(contentsOf: SimulatedSpotify.catalogue),
                configuration: .init(port: port),
                logger: .silent
            )
            let error = await #expect(throws: SpotifySimulatorError.self) { try await second.run() }
            #expect(error?.code == "simulator.portInUse")
            #expect(error?.description.contains("\(port)") == true)
            #expect(error?.description.contains("--port") == true)
        }
    }

    @Test("Consents and playback survive the process in a state file, which has no token")
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
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
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
