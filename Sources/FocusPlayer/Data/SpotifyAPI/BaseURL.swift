internal import Foundation

/// The scheme, host and port of a server to which secrets may be sent.
package struct BaseURL: Hashable, Sendable {
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
    ///
    /// Nil for any other address.
    package init?(_ text: String) {
        guard let url = URLComponents(string: text), ["", "/"].contains(url.path), url.query == nil,
            let origin = BaseURL(originOf: url)
        else { return nil }
        self = origin
    }

    private init?(originOf url: URLComponents) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host?.lowercased(), !host.isEmpty,
            url.user == nil, url.password == nil
        else { return nil }
        let isLoopback = ["127.0.0.1", "[::1]", "::1", "localhost"].contains(host)
        guard scheme == "https" || (scheme == "http" && isLoopback) else { return nil }
        // `https://host:443` and `https://host` are the same origin.
        self.init(scheme: scheme, host: host, port: url.port == (scheme == "https" ? 443 : 80) ? nil : url.port)
    }

    /// The URL of a path on this host. The path begins with a slash and may have a query.
    func url(_ pathAndQuery: String) -> String {
        "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")\(pathAndQuery)"
    }

    /// True if an absolute URL has this scheme, host and port.
    func isOrigin(of url: String) -> Bool {
        guard let components = URLComponents(string: url), let origin = BaseURL(originOf: components) else {
            return false
        }
        return origin == self
    }
}

extension BaseURL: CustomStringConvertible {
    package var description: String { url("") }
}
