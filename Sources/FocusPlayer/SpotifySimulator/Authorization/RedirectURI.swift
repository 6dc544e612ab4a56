import Foundation

/// An address that consent may redirect to: https anywhere, or http on a loopback address literal.
///
/// Spotify refuses the name `localhost`, which may resolve to somebody else (RFC 8252 §8.3).
struct RedirectURI: Sendable, Equatable {
    private let components: URLComponents

    /// - Parameter string: The address; `nil` comes back when Spotify would not let anyone register it.
    init?(_ string: String) {
        guard
            let components = URLComponents(string: string),
            let scheme = components.scheme,
            let host = components.host, !host.isEmpty,
            // RFC 6749 §3.1.2: a redirection endpoint has no fragment.
            components.fragment == nil,
            scheme == "https" || (scheme == "http" && Self.loopback.contains(host)),
            host != "localhost"
        else { return nil }
        self.components = components
    }

    /// Whether a registration of this address admits a request for the other one. The port of a loopback address may
    /// vary when it was registered without one (RFC 8252 §7.3): native apps listen on whatever port is free.
    func covers(_ requested: RedirectURI) -> Bool {
        guard components.scheme == "http", components.port == nil else { return self == requested }
        var portless = requested.components
        portless.port = nil
        return components == portless
    }

    /// This address with further query items, percent-encoded so that a form decoder reads them back.
    func appending(_ items: [(name: String, value: String)]) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        )
        let added = items.map { item in
            "\(item.name)=\(item.value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")"
        }
        let existing = components.percentEncodedQuery.flatMap { $0.isEmpty ? nil : $0 }
        var result = components
        result.percentEncodedQuery = ((existing.map { [$0] } ?? []) + added).joined(separator: "&")
        return result.string ?? ""
    }

    /// URLComponents keeps the brackets of an IPv6 literal on some platforms and drops them on others.
    private static let loopback: Set = ["127.0.0.1", "[::1]", "::1"]
}

extension RedirectURI: CustomStringConvertible {
    var description: String { components.string ?? "" }
}

extension RedirectURI: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a redirect URI")
        }
        self = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
