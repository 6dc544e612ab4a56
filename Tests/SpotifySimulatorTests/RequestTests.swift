import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import SpotifySimulator

@Suite("HTTP", .timeLimit(.minutes(2)))
struct RequestTests {
    @Test("HEAD is answered like GET without the body, and so are errors")
    func head() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            for (path, status) in [
                ("/v1/me", 200), ("/v1/nonsense", 404), ("/v1/playlists/Nowhere/items", 404), ("/v1/albums/a", 501),
                ("/api/token", 405), ("/_control", 200), ("/authorize", 400),
            ] {
                func exchange(_ method: String) async throws -> (head: [String], body: String) {
                    let answer = try await RawExchange.answer(
                        to: """
                            \(method) \(path) HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer \(token)\r
                            Connection: close\r\n\r\n
                            """, from: spotify.base)
                    let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
                    let head = parts[0].components(separatedBy: "\r\n").filter { !$0.lowercased().hasPrefix("date") }
                    return (head, parts.count == 2 ? String(parts[1]) : "")
                }
                let (head, get) = (try await exchange("HEAD"), try await exchange("GET"))
                #expect(head.head.first?.contains(" \(status) ") == true, "\(path): \(head.head)")
                #expect(head.body == "" && get.body != "", "\(path)")
                // The texts of these errors contain the method.
                if status != 405 && status != 501 { #expect(head.head == get.head) }
            }
        }
    }

    @Test(
        "A method that the path does not have is refused with the allowed ones",
        arguments: [
            (.put, "/v1/me", "GET, HEAD"), (.get, "/api/token", "POST"), (.delete, "/v1/me/player", "GET, HEAD, PUT"),
            (.put, "/authorize", "GET, HEAD, POST"), (.get, "/v1/me/player/play", "PUT"),
            (.post, "/v1/me/player/devices/", "GET, HEAD"), (.get, "/_control/reset", "POST"),
            (.post, "/_control/state", "GET, HEAD"), (.patch, "/v1/albums/some", "GET, HEAD"),
        ] as [(HTTPRequest.Method, String, String)]
    )
    func methods(method: HTTPRequest.Method, path: String, allowed: String) async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let answer = try await spotify.send(method, path, [.authorization: "Bearer \(token)"], nil)
            #expect(answer.status == 405)
            #expect(answer.headers[.allow] == allowed)
            let message = "\(method.rawValue) is not allowed here; use \(allowed)"
            if path.hasPrefix("/v1/") {
                #expect(try answer.webAPIError == "405 | \(message)")
            } else if path.hasPrefix("/api/") {
                #expect(try answer.tokenError == "405 | invalid_request | \(message)")
            } else {
                #expect(answer.text == message + "\n")
            }
        }
    }

    @Test(
        "An operation of Spotify that is not simulated is refused with the simulated ones",
        arguments: [
            (.get, "/v1/albums/some"), (.post, "/v1/playlists/DeepFocus/items"), (.get, "/v1/search"),
            (.get, "/v1/playlists/DeepFocus/images"), (.get, "/v1/me/player/queue"),
        ] as [(HTTPRequest.Method, String)]
    )
    func notSimulated(method: HTTPRequest.Method, path: String) async throws {
        try await withSimulator { spotify in
            let answer = try await spotify.send(method, path, [:], nil)
            let error = try answer.webAPIError
            #expect(error.hasPrefix("501 | \(method.rawValue) /v1/"), "\(error)")
            #expect(error.contains(" is not simulated; "))
            #expect(error.contains("GET /v1/playlists/{id}/items, "))
            #expect(!error.contains("_control") && !error.contains("\n"))
        }
    }

    @Test(
        "A connection whose request does not continue is closed",
        arguments: [
            "", "GET", "GET /v1/me HTTP/1.1\r\nHost: 127", "POST /api/token HTTP/1.1\r\nHost: a\r\n",
            """
            POST /api/token HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/x-www-form-urlencoded\r
            Content-Length: 9\r\n\r\na=
            """,
        ]
    )
    func slowHeaders(text: String) async throws {
        try await withSimulator(idleTimeout: .milliseconds(500)) { spotify in
            let answer = try await RawExchange.answer(to: text, from: spotify.base)
            #expect(answer == "")
        }
    }

    @Test(
        "A connection whose headers arrive byte by byte, without an end, is closed",
        arguments: ["GET /v1/", "GET /v1/me HTTP/1.1\r\nHost: "])
    func drippingHeaders(text: String) async throws {
        try await withSimulator(idleTimeout: .milliseconds(500)) { spotify in
            let answer = try await RawExchange.answer(to: text, from: spotify.base, isDripping: true)
            #expect(answer == "")
        }
    }

    @Test("A path that Spotify does not have is not found")
    func unknownPaths() async throws {
        try await withSimulator { spotify in
            for path in ["/v1/nonsense", "/v1", "/v1/me/playlists/some/more"] {
                let answer = try await spotify.get(path)
                #expect(answer.status == 404, "\(path)")
            }
        }
    }
}
