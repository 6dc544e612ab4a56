import Foundation
import SpotifyTestSupport
import Testing

@testable import SpotifySimulator

@Suite("Web API")
struct WebAPITests {
    @Test("Each mistake of the authorization has its own answer")
    func authorization() async throws {
        try await withSimulator { spotify in
            for (header, error) in [
                (nil, "401 | No token provided"),
                ("Basic abc", "400 | Only valid bearer authentication supported"),
                ("Bearer", "400 | Only valid bearer authentication supported"),
                ("Bearer nonsense", "401 | Invalid access token"),
            ] {
                let answer = try await spotify.get("/v1/me", authorization: header)
                #expect(try answer.webAPIError == error)
            }
        }
    }

    @Test(
        "A token without the scope is refused",
        arguments: [
            "/v1/me/playlists", "/v1/playlists/DeepFocus/items", "/v1/me/player/devices", "/v1/me/player",
            "/v1/me/player/currently-playing",
        ]
    )
    func scope(path: String) async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn(scopes: "user-read-private").accessToken
            #expect(try await spotify.get(path, token: token).webAPIError == "403 | Insufficient client scope")
            #expect(try await spotify.get("/v1/me", token: token).status == 200)
        }
    }

    @Test("The profile is answered with a trailing slash too, and shows what the scopes allow")
    func profile() async throws {
        try await withSimulator { spotify in
            let plain = try await spotify.signIn().accessToken
            let answer = try await spotify.get("/v1/me/", token: plain)
            #expect(answer.status == 200)
            #expect(answer.text.contains(#""id":"segue""#))
            #expect(!answer.text.contains("email") && !answer.text.contains("product"))

            let full = try await spotify.signIn(scopes: "user-read-private user-read-email").accessToken
            let detailed = try await spotify.get("/v1/me", token: full)
            #expect(detailed.text.contains("listener@example.com") && detailed.text.contains(#""product":"premium""#))
        }
    }

    @Test("The links from the default page visit every playlist once, in order")
    func playlists() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let pages: [Listing<ListedPlaylist>] = try await Self.pages("/v1/me/playlists", spotify, token)
            #expect(pages.count >= 2)
            #expect(pages.first?.limit == 20)
            #expect(pages.first?.previous == nil)
            let expected = try #require(try Catalogue(contentsOf: SimulatedSpotify.catalogue).accounts.first).playlists
                .map(\.id)
            #expect(pages.flatMap(\.items).map(\.id) == expected)
            #expect(pages.allSatisfy { $0.total == expected.count })
        }
    }

    @Test("Items are read in pages, and each is an item")
    func items() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let path = "/v1/playlists/EndlessFocus/items?limit=50"
            let pages: [Listing<ListedItem>] = try await Self.pages(path, spotify, token)
            let tracks = pages.flatMap(\.items).map(\.item)
            #expect(pages.count == 3)
            #expect(tracks.count == 120)
            #expect(Set(tracks.map(\.id)).count == 120)
            #expect(tracks.allSatisfy { $0.uri == "spotify:track:\($0.id)" && $0.durationMs > 60_000 })
        }
    }

    @Test("An empty playlist is one empty page, and so is an offset beyond the end")
    func emptyPages() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            for path in ["/v1/playlists/Empty/items", "/v1/me/playlists?offset=1000"] {
                let answer = try await spotify.get(path, token: token)
                #expect(answer.text.contains(#""items":[]"#))
                #expect(answer.text.contains(#""next":null"#))
            }
        }
    }

    @Test(
        "An invalid number is refused",
        arguments: [
            ("limit=0", "400 | Invalid limit"), ("limit=51", "400 | Invalid limit"), ("limit=x", "400 | Invalid limit"),
            ("offset=-1", "400 | Invalid offset"), ("offset=9223372036854775807", "400 | Invalid offset"),
        ]
    )
    func badNumbers(query: String, error: String) async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            for path in ["/v1/me/playlists", "/v1/playlists/DeepFocus/items"] {
                #expect(try await spotify.get("\(path)?\(query)", token: token).webAPIError == error)
            }
        }
    }

    @Test("A playlist that the user may not read, or that does not exist, is refused")
    func refusals() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            for (path, error) in [
                ("/v1/playlists/Nowhere/items", "404 | Resource not found"),
                ("/v1/playlists/EditorsFocus/items", "403 | Forbidden"),
                ("/v1/playlists/DeepFocus/tracks", "403 | Forbidden"),
                ("/v1/nonsense", "404 | Service not found"),
            ] {
                #expect(try await spotify.get(path, token: token).webAPIError == error)
            }
            #expect(try await spotify.get("/v1/playlists/OfficeRadio/items", token: token).status == 200)
        }
    }

    private static func pages<Item: Decodable>(
        _ path: String,
        _ spotify: SpotifyClient,
        _ token: String
    ) async throws -> [Listing<Item>] {
        var pages: [Listing<Item>] = []
        var next: String? = path
        while let url = next, pages.count < 10 {
            let page: Listing<Item> = try await spotify.get(url, token: token).decoded()
            pages.append(page)
            next = try page.next.map { absolute in
                let components = try #require(URLComponents(string: absolute))
                #expect(absolute.hasPrefix("\(spotify.base)/"))
                return "\(components.path)?\(components.query ?? "")"
            }
        }
        return pages
    }
}
