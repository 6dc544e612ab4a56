import SpotifyTestSupport
import Testing

@testable import SpotifySimulator

@Suite("Catalogue")
struct CatalogueTests {
    private static let head = """
        user: { id: me, name: Me, email: me@example.com }
        clients: [{ id: app }]
        devices: []
        """

    @Test("The shipped catalogue has more than 20 playlists, one with more than 50 songs, and a refused one")
    func shipped() throws {
        let accounts = try Catalogue(contentsOf: SimulatedSpotify.catalogue).accounts
        let first = try #require(accounts.first)
        #expect(first.playlists.count > 20)
        #expect(first.playlists.contains { $0.songs.count > 50 })
        #expect(first.playlists.contains { !$0.showsItems(to: first.user) })
        #expect(first.devices.count(where: \.isActive) == 1)
        #expect(accounts.count > 1 && Set(accounts.map(\.user.id)).count == accounts.count)
    }

    @Test("The notation for songs is read")
    func notation() {
        let titles = { (line: String) in Catalogue.Song.songs(inNotation: line)?.map(\.title) }
        #expect(titles("A / B: One; Two: Three") == ["One", "Two: Three"])
        #expect(titles("A / B: Room 9..11; Out") == ["Room 9", "Room 10", "Room 11", "Out"])
        for line in [
            "A: One", "A / B / C: One", " / B: One", "A / B:", "A / B: One;;Two", "A / B: X 3..1", "A / B: 1..3",
        ] {
            #expect(titles(line) == nil, "\(line)")
        }
        #expect(
            Catalogue.Song.songs(inNotation: "A / B: One") == [Catalogue.Song(artist: "A", album: "B", title: "One")])
    }

    @Test("A song has the same identifier wherever it is listed, and another song another one")
    func identifiers() {
        let one = Catalogue.Song(artist: "A", album: "B", title: "One")
        #expect(one.id == Catalogue.Song(artist: "A", album: "B", title: "One").id)
        #expect(one.id != Catalogue.Song(artist: "A", album: "BO", title: "ne").id)
        #expect(one.id.count == 22)
    }

    @Test(
        "A malformed catalogue is one line with file and line",
        arguments: [
            ("playlists: [", "cat.yaml:5: "),
            ("playlists:\n  - { id: a b, name: X, songs: [] }", "cat.yaml:5: 'a b' is not a playlist id"),
            ("playlists:\n  - { id: a, songs: [] }", "cat.yaml:5: a playlist lacks 'name'"),
            ("playlists:\n  - { id: a, nmae: X, songs: [] }", "cat.yaml:5: a playlist has the unknown key 'nmae'"),
            ("playlists:\n  - id: a\n    name: X\n    songs: [oops]", "cat.yaml:7: songs are written"),
            ("playlists:\n  - { id: a, name: X, songs: [] }\n  - { id: a, name: Y, songs: [] }", "cat.yaml:6: two "),
            ("playlists: nothing", "cat.yaml:4: 'playlists' must be a list"),
            ("songs: []\nplaylists: []", "cat.yaml:4: the catalogue has the unknown key 'songs'"),
            ("devices: []\nplaylists: []", "cat.yaml:"),
            ("playlists: &a []\n*a : x", "cat.yaml:5: a YAML alias cannot be a part of a key"),
            ("playlists: []\nsongs: \0", "cat.yaml:5: "),
            ("", "cat.yaml:1: the catalogue lacks 'playlists'"),
            ("playlists: []\naccounts: [{ devices: [], playlists: [] }]", "cat.yaml:5: an account lacks 'user'"),
            (
                "playlists: []\naccounts:\n  - { user: { id: me, name: M, email: m }, devices: [], playlists: [] }",
                "cat.yaml:6: two accounts have the user id 'me'"
            ),
            (
                "playlists: []\nwithdrawn_songs: ['A / B: One']",
                "cat.yaml:5: the withdrawn song 'One' is in no playlist"
            ),
            ("playlists: []\naccounts: [{ clients: [] }]", "cat.yaml:5: an account has the unknown key 'clients'"),
            (
                "playlists: []\naccounts:\n- user: { id: a, name: M, email: m }\n  playlists: []\n  devices:\n"
                    + "  - { id: d, name: D, type: T, active: true }\n  - { id: e, name: E, type: T, active: true }",
                "cat.yaml:9: more than one device is active"
            ),
        ]
    )
    func malformed(rest: String, expected: String) {
        let error = #expect(throws: CatalogueError.self) {
            try Catalogue(yaml: Self.head + "\n" + rest, file: "cat.yaml")
        }
        #expect(error?.description.hasPrefix(expected) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("\n") == false)
    }

    @Test("A missing file is refused with its path")
    func missing() {
        let error = #expect(throws: CatalogueError.self) { try Catalogue(contentsOf: "/nowhere/cat.yaml") }
        #expect(error?.description == "/nowhere/cat.yaml: cannot read the catalogue: there is no such file")
    }

    @Test(
        "A redirect URI is valid if Spotify lets apps register it",
        arguments: [
            ("https://example.com/cb", true), ("http://127.0.0.1:80/cb", true), ("http://[::1]:80/cb", true),
            ("http://localhost:80/cb", false), ("https://localhost/cb", false), ("http://127.0.0.1.evil.com/", false),
            ("http://example.com/cb", false), ("https://example.com/cb#here", false), ("segue://callback", false),
            ("https://", false), ("", false), ("http://127.0.0.1:65535/cb", true), ("http://127.0.0.1:65536/cb", false),
            ("http://127.0.0.1:99999/cb", false), ("http://127.0.0.1:0/cb", false), ("http://127.0.0.1:/cb", false),
            ("http://127.0.0.1:-1/cb", false), ("https://example.com:99999/cb", false),
            ("http://①②⑦.0.0.1/cb", false), ("http://127。0。0。1/cb", false), ("http://127.0.0.1:８０/cb", false),
            ("http://127.0.0%2E1/cb", false), ("http://127.1/cb", false), ("http://0x7f.0.0.1/cb", false),
            ("http://127.0.0.1@evil.com/cb", false), ("http://me@127.0.0.1/cb", false), ("http://::1/cb", false),
            ("https://ｌocalhost/cb", false), ("https://LOCALHOST/cb", false), ("https://localhost./cb", false),
            ("https://exämple.com/cb", false), ("http://127.0.0.1:80\\@evil.com/", false),
            ("http://127.0.0.1/c b", false), ("http://127.0.0.1/%zz", false), ("http://127.0.0.1/%C3%A9", true),
            ("https://example.com:443/cb?a=b&c", true), ("https://a_b.example/", true), ("http:127.0.0.1/cb", false),
        ]
    )
    func redirectURIs(text: String, isValid: Bool) {
        #expect((RedirectURI(text) != nil) == isValid)
    }

    @Test("A registered port must match, and a parameter is added to the existing query")
    func registration() throws {
        let registered = try #require(RedirectURI("http://127.0.0.1:8080/cb?a=b"))
        #expect(!registered.covers(try #require(RedirectURI("http://127.0.0.1:8081/cb?a=b"))))
        #expect(registered.covers(registered))
        #expect(registered.appending([("state", "x&y=+")]) == "http://127.0.0.1:8080/cb?a=b&state=x%26y%3D%2B")
    }
}
