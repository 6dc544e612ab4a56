import Foundation
import Support

/// A request to `/authorize` whose parameters are valid.
struct ConsentRequest: Sendable {
    let client: Catalogue.Client
    let redirectURI: RedirectURI
    let challenge: String
    let scopes: Set<Scope>
    let state: String?

    /// The parameters as received. The consent form sends them back.
    let parameters: [String: String]

    /// - Parameters:
    ///   - parameters: The decoded query of the request, or the fields of the consent form.
    ///   - clients: The registered applications.
    /// - Throws: `ConsentRequestError`, to be shown in the browser. Nothing is sent to a redirect URI that has not been
    ///   checked (RFC 6749 §4.1.2.1).
    init(_ parameters: [String: String], clients: [Catalogue.Client]) throws(ConsentRequestError) {
        guard let clientID = parameters["client_id"], let client = clients.first(where: { $0.id == clientID }) else {
            throw .invalidClient
        }
        guard let redirectURI = parameters["redirect_uri"].flatMap(RedirectURI.init), client.admits(redirectURI) else {
            throw .invalidRedirectURI
        }
        guard parameters["response_type"] == "code" else { throw .invalidResponseType }
        guard parameters["code_challenge_method"] == "S256" else { throw .invalidChallengeMethod }
        guard let challenge = parameters["code_challenge"], PKCE.isChallenge(challenge) else { throw .invalidChallenge }
        guard let scopes = Scope.list(parameters["scope"] ?? "") else { throw .invalidScope }

        self.client = client
        self.redirectURI = redirectURI
        self.challenge = challenge
        self.scopes = scopes
        self.state = parameters["state"]
        self.parameters = parameters.filter { Self.names.contains($0.key) }
    }

    /// The URL to which the browser is redirected after the user has approved or denied.
    func redirect(_ answer: (name: String, value: String)) -> String {
        redirectURI.appending([answer] + (state.map { [("state", $0)] } ?? []))
    }

    private static let names: Set = [
        "client_id", "redirect_uri", "response_type", "code_challenge_method", "code_challenge", "scope", "state",
    ]
}

/// An error that `/authorize` shows in place of the consent page.
enum ConsentRequestError: String, Error, Sendable {
    case invalidClient = "INVALID_CLIENT: Invalid client"
    case invalidRedirectURI = "INVALID_CLIENT: Invalid redirect URI"
    case invalidResponseType = "response_type must be code"
    case invalidChallengeMethod = "code_challenge_method must be S256"
    case invalidChallenge = "code_challenge must be the base64url form of a SHA-256 digest"
    case invalidScope = "INVALID_SCOPE: Invalid scope"
    /// The form names an account that the catalogue does not have.
    case unknownAccount = "Unknown account"
}

/// A redirect URI that Spotify allows: https on any host, or http on a loopback address literal.
///
/// Spotify refuses the name `localhost`, which may resolve to another host (RFC 8252 §8.3).
struct RedirectURI: Sendable, Equatable {
    private let components: URLComponents

    /// Reads an address. `nil` if Spotify would not register the address.
    init?(_ string: String) {
        guard
            // URLComponents accepts more: it converts the digits of other scripts and percent-encoded hosts.
            string.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }),
            // A redirection endpoint must not have a fragment (RFC 6749 §3.1.2).
            let parts = string.wholeMatch(of: Self.form),
            !string.contains(#/%(?![0-9A-Fa-f]{2})/#.byScalar),
            (1...65_535).contains(parts.port.flatMap { Int($0) } ?? 80),
            parts.scheme == "https" ? Self.isRemote(parts.host) : Self.loopback.contains(parts.host),
            let components = URLComponents(string: string, encodingInvalidCharacters: false)
        else { return nil }
        self.components = components
    }

    /// True if this registered address allows the requested one. A loopback address that was registered without a port
    /// allows every port (RFC 8252 §7.3).
    func covers(_ requested: RedirectURI) -> Bool {
        guard components.scheme == "http", components.port == nil else { return self == requested }
        var portless = requested.components
        portless.port = nil
        return components == portless
    }

    /// This address with further query items, percent-encoded so that a form decoder reads them back.
    func appending(_ items: [(name: String, value: String)]) -> String {
        let added = items.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }
        let existing = components.percentEncodedQuery.flatMap { $0.isEmpty ? nil : $0 }
        var result = components
        result.percentEncodedQuery = ((existing.map { [$0] } ?? []) + added).joined(separator: "&")
        return result.string ?? ""
    }

    private static let loopback: Set<Substring> = ["127.0.0.1", "[::1]"]

    /// False for the name `localhost`, in each of its spellings.
    private static func isRemote(_ host: Substring) -> Bool {
        var name = host.lowercased()
        while let rest = name.removing(suffix: ".") { name = String(rest) }
        return !name.isEmpty && name != "localhost"
    }

    /// A URL without user information and fragment, whose port is a number without leading zeros.
    private static var form: Regex<(Substring, scheme: Substring, host: Substring, port: Substring?)> {
        #/
            (?<scheme> https?) :// (?<host> [A-Za-z0-9._\-]+ | \[ [0-9A-Fa-f:.]+ \])
            (?: : (?<port> [1-9][0-9]{0,4}))?
            (?: [/?] [^\#]*)?
        /#.byScalar
    }
}

extension RedirectURI: CustomStringConvertible {
    var description: String { components.string ?? "" }
}

extension RedirectURI: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "a redirect URI is https, http://127.0.0.1 or http://[::1]; localhost is refused")
        }
        self = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The permissions of a token. A request for any other scope is refused.
enum Scope: String, Codable, CaseIterable, Sendable {
    case appRemoteControl = "app-remote-control"
    case playlistModifyPrivate = "playlist-modify-private"
    case playlistModifyPublic = "playlist-modify-public"
    case playlistReadCollaborative = "playlist-read-collaborative"
    case playlistReadPrivate = "playlist-read-private"
    case streaming
    case ugcImageUpload = "ugc-image-upload"
    case userFollowModify = "user-follow-modify"
    case userFollowRead = "user-follow-read"
    case userLibraryModify = "user-library-modify"
    case userLibraryRead = "user-library-read"
    case userModifyPlaybackState = "user-modify-playback-state"
    case userReadCurrentlyPlaying = "user-read-currently-playing"
    case userReadEmail = "user-read-email"
    case userReadPlaybackPosition = "user-read-playback-position"
    case userReadPlaybackState = "user-read-playback-state"
    case userReadPrivate = "user-read-private"
    case userReadRecentlyPlayed = "user-read-recently-played"
    case userTopRead = "user-top-read"

    /// Reads a list of scopes that are separated by spaces. `nil` if one of them is unknown.
    static func list(_ text: String) -> Set<Scope>? {
        let names = text.split(scalar: " ")
        let scopes = names.compactMap { Scope(rawValue: String($0)) }
        return scopes.count == names.count ? Set(scopes) : nil
    }
}

extension Set<Scope> {
    /// The scopes in alphabetical order, separated by spaces.
    var list: String { map(\.rawValue).sorted().joined(separator: " ") }
}
