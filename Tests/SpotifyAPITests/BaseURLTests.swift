import SpotifyAPI
import Testing

@Suite("Base URL")
struct BaseURLTests {
    @Test(
        "HTTPS anywhere, and plain HTTP on this machine",
        arguments: [
            ("https://api.spotify.com", "https://api.spotify.com"), ("https://API.example/", "https://api.example"),
            ("https://api.example:443", "https://api.example"), ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://localhost:80/", "http://localhost"), ("http://[::1]:9", "http://[::1]:9"),
        ])
    func accepted(text: String, canonical: String) {
        #expect(BaseURL(text)?.description == canonical)
    }

    @Test(
        "Whatever could carry a token off is refused",
        arguments: [
            "http://api.spotify.com", "ftp://127.0.0.1", "https://user:secret@api.spotify.com", "https://",
            "https://api.spotify.com/v1", "https://api.spotify.com?x=1", "api.spotify.com", "",
            "http://127.0.0.1.evil.org",
        ])
    func refused(text: String) {
        #expect(BaseURL(text) == nil)
    }
}
