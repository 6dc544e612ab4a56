import Foundation
import SpotifyTestSupport
import Testing

@testable import SpotifySimulator

@Suite("Answers and the description of the Web API")
struct SchemaTests {
    @Test("The profile, the playlists, their items and the devices have the fields of the description")
    func objects() async throws {
        try await withSimulator { spotify in
            let scopes = SpotifyClient.scopes + " user-read-private user-read-email"
            let token = try await spotify.signIn(scopes: scopes).accessToken
            for (path, shape) in [
                ("/v1/me", WebAPISchema.profile),
                ("/v1/me/playlists?limit=50", WebAPISchema.page(WebAPISchema.playlist)),
                ("/v1/playlists/DeepFocus", WebAPISchema.playlist),
                ("/v1/playlists/DeepFocus/items", WebAPISchema.page(WebAPISchema.playlistItem)),
                ("/v1/playlists/EndlessFocus/items?offset=100", WebAPISchema.page(WebAPISchema.playlistItem)),
                ("/v1/me/player/devices", WebAPISchema.devices),
            ] {
                let answer = try await spotify.get(path, token: token)
                #expect(answer.status == 200)
                let value = try answer.decoded(JSONValue.self, literally: true)
                #expect(shape.differences(value) == [], "\(path)")
            }
            let error = try await spotify.get("/v1/me", token: "nonsense").decoded(JSONValue.self, literally: true)
            #expect(WebAPISchema.error.differences(error) == [])
        }
    }

    @Test("The description of a value finds missing, unknown and wrong fields")
    func shapes() throws {
        let text = #"{"id":1,"more":true,"name":null}"#
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        let shape = Shape.object(["id": .text, "name": .nullable(.text), "uri": .text, "size": .optional(.number)])
        #expect(
            shape.differences(value) == [
                "answer.more: unknown", "answer.id: number(1) is not text", "answer.uri: missing",
            ])
    }

    @Test("A song's number on its album is the same wherever the song is listed")
    func albums() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let path = "/v1/playlists/DeepFocus/items?limit=50"
            let items = try await spotify.get(path, token: token).decoded(JSONValue.self, literally: true)["items"]
            let undertow = items.elements.map { $0["item"] }.filter { $0["album"]["name"] == .text("Undertow") }
            #expect(undertow.map { $0["track_number"] } == [.number(1), .number(2), .number(3), .number(4)])
            #expect(undertow.allSatisfy { $0["album"]["total_tracks"] == .number(4) })
            #expect(Set(undertow.map { "\($0["album"]["release_date"])" }).count == 1)
        }
    }

    @Test(
        "The parameter 'fields' selects a part of the answer",
        arguments: [
            ("total,limit", #"{"limit":2,"total":12}"#),
            ("items(added_at,added_by.id)", #"{"items":[{"added_at":"T","added_by":{"id":"segue"}}]}"#),
            ("items(item(name,album(name)))", #"{"items":[{"item":{"album":{"name":"Undertow"},"name":"Undertow"}}]}"#),
            ("items.item.name", #"{"items":[{"item":{"name":"Undertow"}}]}"#),
            ("items.item.explicit,next", #"{"items":[{"item":{"explicit":false}}],"next":null}"#),
            ("nothing", "{}"),
            (
                "items.item.artists(!external_urls,href,id)",
                #"{"items":[{"item":{"artists":[{"name":"Hollow Pines","type":"artist","uri":"U"}]}}]}"#
            ),
        ]
    )
    func fields(fields: String, expected: String) async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let query = fields.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let size = fields.hasPrefix("items") ? 1 : 2
            let path = "/v1/playlists/DeepFocus/items?limit=\(size)&offset=0&fields=\(query)"
            let answer = try await spotify.get(path, token: token)
            #expect(answer.status == 200)
            let text = answer.text
                .replacing(/"next":"[^"]*"/, with: #""next":null"#)
                .replacing(/"added_at":"[^"]*"/, with: #""added_at":"T""#)
                .replacing(/"uri":"[^"]*"/, with: #""uri":"U""#)
            #expect(text == expected)
        }
    }

    @Test("Links to other pages keep the fields and the market")
    func links() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let path = "/v1/playlists/DeepFocus/items?limit=1&market=SE&fields=next%2Ctotal"
            let next = try await spotify.get(path, token: token).decoded(JSONValue.self, literally: true)["next"]
            #expect(
                next
                    == .text(
                        "\(spotify.base)/v1/playlists/DeepFocus/items?offset=1&limit=1&market=SE&fields=next%2Ctotal"))
        }
    }

    @Test("A withdrawn song is in its playlist, and cannot be played with any market")
    func withdrawn() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let path = "/v1/playlists/LongWalk/items?limit=50"
            for market in ["", "&market=SE", "&market=from_token"] {
                let page = try await spotify.get("\(path)\(market)", token: token)
                let songs = try page.decoded(JSONValue.self, literally: true)["items"].elements.map { $0["item"] }
                let withdrawn = songs.filter { $0["available_markets"].elements.isEmpty }
                #expect(withdrawn.map { $0["name"] } == [.text("Sti 7")])
                #expect(withdrawn.first?["is_playable"] == (market.isEmpty ? .null : .flag(false)))
                let refused = songs.filter { $0["is_playable"] == .flag(false) }
                #expect(refused.count == (market.isEmpty ? 0 : 1))
            }
        }
    }

    @Test("The account's market can be refused, for all tokens or for those without the scope")
    func tokenMarket() async throws {
        try await withSimulator { spotify in
            let plain = try await spotify.signIn().accessToken
            let full = try await spotify.signIn(scopes: SpotifyClient.scopes + " user-read-private").accessToken
            func answer(_ token: String, _ market: String = "from_token") async throws -> Int {
                try await spotify.get("/v1/playlists/DeepFocus/items?market=\(market)", token: token).status
            }
            _ = try await spotify.control("market", ["from_token": "invalid"])
            #expect(try await [answer(plain), answer(full), answer(plain, "SE")] == [400, 400, 200])
            _ = try await spotify.control("market", ["from_token": "scope"])
            #expect(try await [answer(plain), answer(full), answer(plain, "SE")] == [403, 200, 200])
            _ = try await spotify.control("market", ["from_token": "accepted"])
            #expect(try await [answer(plain), answer(full)] == [200, 200])
            let unknown = try await spotify.post("/_control/market", ["from_token": "maybe"])
            #expect(unknown.status == 400 && unknown.text.contains("accepted, invalid, scope"))
        }
    }

    @Test("A market without the songs makes them unplayable, and an unknown market is refused")
    func market() async throws {
        try await withSimulator { spotify in
            let token = try await spotify.signIn().accessToken
            let path = "/v1/playlists/DeepFocus/items?limit=1"
            for (market, isPlayable) in [("SE", true), ("AQ", false), ("from_token", true)] {
                let answer = try await spotify.get("\(path)&market=\(market)", token: token)
                let value = try answer.decoded(JSONValue.self, literally: true)
                #expect(WebAPISchema.page(WebAPISchema.playlistItem).differences(value) == [])
                let song = value["items"].elements.first?["item"] ?? .null
                #expect(song["is_playable"] == .flag(isPlayable))
                #expect(song["restrictions"]["reason"] == (isPlayable ? .null : .text("market")))
            }
            let unasked = try await spotify.get(path, token: token).decoded(JSONValue.self, literally: true)
            let song = unasked["items"].elements.first?["item"] ?? .null
            #expect(song["is_playable"] == .null && song["restrictions"] == .null, "without a market nothing is said")
            for market in ["ZZ", "se", "SWE", ""] {
                let answer = try await spotify.get("\(path)&market=\(market)", token: token)
                #expect(try answer.webAPIError == "400 | Invalid market code")
            }
            for fields in ["items(", "items)", "items(name", "a..b", ",", "", "items((name))"] {
                let query = fields.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                let answer = try await spotify.get("\(path)&fields=\(query)", token: token)
                #expect(try answer.webAPIError == "400 | Invalid fields", "\(fields)")
            }
        }
    }
}
