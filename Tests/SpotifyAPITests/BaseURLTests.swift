import SpotifyAPI
import Testing

@Suite("Base URL")
struct BaseURLTests {
    @Test(
        "HTTPS is accepted for any host, and plain HTTP on this machine only",
        arguments: [
            ("https://api.spotify.com", "https://api.spotify.com"), ("https://API.example/", "https://api.example"),
            ("https://api.example:443", "https://api.example"), ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://localhost:80/", "http://localhost"), ("http://[::1]:9", "http://[::1]:9"),
        ])
    func accepted(text: String, canonical: String) throws {
        #expect(try BaseURL(text).description == canonical)
    }

    @Test(
        "An address that could leak a token is refused",
        arguments: [
            "http://api.spotify.com", "ftp://127.0.0.1", "https://user:secret@api.spotify.com", "https://",
            "https://api.spotify.com/v1", "https://api.spotify.com?x=1", "api.spotify.com", "",
            "http://127.0.0.1.evil.org", "https://api.spotify.com#x", "https://api.spotify.com\\@evil.org",
        ])
    func refused(text: String) {
        #expect(throws: BaseURL.Invalid.self) { try BaseURL(text) }
    }

    @Test(
        "A host in other characters or a port out of range is refused with the reason",
        arguments: [
            ("http://①②⑦.0.0.1:8080", "ASCII"), ("https://api.spotify。com", "ASCII"),
            ("http://%31%32%37.0.0.1", "form"), ("https://api%2Espotify.com", "form"),
            ("http://127.0.0.1:99999", "port"), ("http://127.0.0.1:0", "port"),
            ("https://api.spotify.com:65536", "port"),
            ("https://api.spotify.com:99999999999999999999", "port"), ("https://api.spotify.com:", "form"),
            ("http://api.spotify.com", "scheme"), ("https://api.spotify.com/v1", "path"),
        ])
    func reason(text: String, reason: String) {
        let error = #expect(throws: BaseURL.Invalid.self) { try BaseURL(text) }
        #expect(error?.description.contains(reason) == true)
    }
}
