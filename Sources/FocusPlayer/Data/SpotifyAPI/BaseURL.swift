internal import Support

/// The scheme, host and port of a server to which secrets may be sent.
package struct BaseURL: Hashable, Sendable {
    /// The reason why a text is not the address of such a server, as a part of a sentence.
    package struct Invalid: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    private let scheme: String
    private let host: String
    private let port: Int?

    package static let spotifyAccounts = BaseURL(scheme: "https", host: "accounts.spotify.com")
    package static let spotifyAPI = BaseURL(scheme: "https", host: "api.spotify.com")

    private init(scheme: String, host: String, port: Int? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// Reads an address with the scheme `https`, such as `https://host`, or a loopback address with the scheme `http`,
    /// such as `http://127.0.0.1:8080`. A final slash is allowed.
    package init(_ text: String) throws(Invalid) {
        let (origin, rest) = try Self.split(text)
        guard ["", "/"].contains(rest) else { throw Invalid(description: "it has a path, a query or a fragment") }
        self = origin
    }

    /// The origin of a URL, and the part of the URL after it.
    private static func split(_ url: String) throws(Invalid) -> (origin: BaseURL, rest: Substring) {
        // `URLComponents` accepts more: it converts the digits of other scripts, decodes percent-encoded hosts and has
        // no maximum for ports.
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }) else {
            throw Invalid(description: "it contains spaces, backslashes or characters other than ASCII")
        }
        guard let parts = url.wholeMatch(of: form) else {
            throw Invalid(description: "it does not have the form SCHEME://HOST or SCHEME://HOST:PORT")
        }
        let (scheme, host) = (parts.scheme.lowercased(), parts.host.lowercased())
        let port = parts.port.map { Int($0) ?? 0 }
        if let port, !(1...65_535).contains(port) {
            throw Invalid(description: "its port is not in 1...65535")
        }
        let isLoopback = ["127.0.0.1", "[::1]", "localhost"].contains(host)
        guard scheme == "https" || (scheme == "http" && isLoopback) else {
            throw Invalid(description: "its scheme is not https, or http for this machine")
        }
        // `https://host:443` and `https://host` are the same origin.
        let standard = scheme == "https" ? 443 : 80
        return (BaseURL(scheme: scheme, host: host, port: port == standard ? nil : port), parts.rest)
    }

    /// A URL without user information.
    private static var form: Regex<(Substring, scheme: Substring, host: Substring, port: Substring?, rest: Substring)> {
        #/
            (?<scheme> [A-Za-z][A-Za-z0-9+.\-]*) :// (?<host> [A-Za-z0-9._\-]+ | \[ [0-9A-Fa-f:.]+ \])
            (?: : (?<port> [0-9]+))?
            (?<rest> (?: [/?\#] .*)?)
        /#.byScalar
    }

    /// The URL of a path on this host. The path begins with a slash and may have a query.
    func url(_ pathAndQuery: String) -> String {
        "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")\(pathAndQuery)"
    }

    /// True if an absolute URL has this scheme, host and port.
    func isOrigin(of url: String) -> Bool {
        (try? Self.split(url))?.origin == self
    }
}

extension BaseURL: CustomStringConvertible {
    package var description: String { url("") }
}
