import Foundation
import HTTPClient
import HTTPTypes
import SpotifyTestSupport
import Synchronization

@testable import SpotifySimulator

/// A client that is written from Spotify's documentation.
struct SpotifyClient {
    static let clientID = "segue-focus-player"
    static let redirectURI = "http://127.0.0.1:49152/callback"
    /// The example of RFC 7636, appendix B.
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    static let scopes = "playlist-read-private user-read-playback-state user-modify-playback-state"

    let client: HTTPClient
    /// Scheme, host and port of the simulator.
    let base: String

    static func authorization(_ changes: [String: String?] = [:]) -> [String: String] {
        let request = [
            "client_id": clientID, "response_type": "code", "redirect_uri": redirectURI, "scope": scopes,
            "code_challenge_method": "S256", "code_challenge": challenge, "state": "a state&more",
        ]
        return changes.reduce(into: request) { $0[$1.key] = $1.value }
    }

    func authorize(_ changes: [String: String?] = [:]) async throws -> Answer {
        try await get("/authorize?\(Self.form(Self.authorization(changes)))")
    }

    func decide(_ decision: String, _ changes: [String: String?] = [:]) async throws -> Answer {
        try await post("/authorize", Self.authorization(changes).merging(["decision": decision]) { $1 })
    }

    /// Gives consent and returns the code.
    /// - Parameter account: the id of the chosen user. Nil to leave out the choice.
    func code(scopes: String = Self.scopes, as account: String? = nil) async throws -> String {
        try await decide("approve", ["scope": scopes, "account": account]).redirectQuery["code"] ?? ""
    }

    func trade(_ code: String, _ changes: [String: String?] = [:]) async throws -> Answer {
        let request = [
            "grant_type": "authorization_code", "client_id": Self.clientID, "code": code,
            "redirect_uri": Self.redirectURI, "code_verifier": Self.verifier,
        ]
        return try await post("/api/token", changes.reduce(into: request) { $0[$1.key] = $1.value })
    }

    func refresh(_ token: String?, clientID: String = Self.clientID) async throws -> Answer {
        let request = ["grant_type": "refresh_token", "client_id": clientID, "refresh_token": token ?? ""]
        return try await post("/api/token", request)
    }

    /// Gives consent and exchanges the code for tokens.
    func signIn(scopes: String = Self.scopes, as account: String? = nil) async throws -> Tokens {
        try await trade(try await code(scopes: scopes, as: account)).decoded()
    }

    func control(_ path: String, _ fields: [String: String]) async throws -> Control {
        try await post("/_control/\(path)", fields).decoded()
    }

    func controlState() async throws -> Control {
        try await get("/_control/state").decoded()
    }

    func get(_ path: String, token: String? = nil, authorization: String? = nil) async throws -> Answer {
        var headers: HTTPFields = [:]
        headers[.authorization] = authorization ?? token.map { "Bearer \($0)" }
        return try await send(.get, path, headers, nil)
    }

    func put(_ path: String, _ json: String?, token: String) async throws -> Answer {
        let headers: HTTPFields = [.authorization: "Bearer \(token)", .contentType: "application/json"]
        return try await send(.put, path, headers, json)
    }

    func post(_ path: String, _ fields: [String: String]) async throws -> Answer {
        try await send(.post, path, [.contentType: "application/x-www-form-urlencoded"], Self.form(fields))
    }

    /// - Parameter path: a path, which may have a query.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ headers: HTTPFields, _ body: String?
    ) async throws -> Answer {
        let request = HTTPClient.Request(method, base + path, headers: headers, body: body.map { Data($0.utf8) })
        return Answer(try await client.send(request, deadline: .seconds(30), maximumBody: 1 << 20))
    }

    static func form(_ fields: [String: String]) -> String {
        fields.map { "\($0.key)=\($0.value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
            .joined(separator: "&")
    }
}

/// Runs a simulator while `test` runs.
func withSimulator<Result>(
    _ policy: TokenPolicy = TokenPolicy(), stateFile: String? = nil, clock: ManualClock = ManualClock(),
    idleTimeout: Duration = .seconds(60), _ test: (SpotifyClient) async throws -> Result
) async throws -> Result {
    let configuration = SpotifySimulator.Configuration(
        tokenPolicy: policy, stateFile: stateFile, idleTimeout: idleTimeout)
    return try await SimulatedSpotify.with(configuration, now: { clock.now }) {
        try await test(SpotifyClient(client: $0.client, base: $0.base))
    }
}

/// A clock that a test moves.
final class ManualClock: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_790_000_000))

    var now: Date { date.withLock { $0 } }

    func advance(by interval: TimeInterval) {
        date.withLock { $0.addTimeInterval(interval) }
    }
}

/// A response, with the values that tests check.
struct Answer {
    let status: Int
    let headers: HTTPFields
    let text: String

    init(_ response: HTTPClient.Response) {
        status = response.status.code
        headers = response.headers
        text = response.text
    }

    /// - Parameter literally: true if the names of fields remain as they are. Otherwise `is_active` is `isActive`.
    func decoded<Payload: Decodable>(
        _ type: Payload.Type = Payload.self, literally: Bool = false
    ) throws -> Payload {
        let decoder = JSONDecoder()
        if !literally { decoder.keyDecodingStrategy = .convertFromSnakeCase }
        return try decoder.decode(type, from: Data(text.utf8))
    }

    /// The Web API's error as `status | message | reason`. The reason is left out if it is nil.
    var webAPIError: String {
        get throws {
            let error = try decoded(WebAPIEnvelope.self).error
            return ([String(error.status), error.message] + (error.reason.map { [$0] } ?? [])).joined(separator: " | ")
        }
    }

    /// The token endpoint's error as `status | code | description`.
    var tokenError: String {
        get throws {
            let error = try decoded(TokenFailure.self)
            return "\(status) | \(error.error) | \(error.errorDescription)"
        }
    }

    /// The query of the URL to which the response redirects.
    var redirectQuery: [String: String] {
        let items = headers[.location].flatMap(URLComponents.init(string:))?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }
}

private struct WebAPIEnvelope: Decodable {
    struct Body: Decodable {
        let status: Int
        let message: String
        let reason: String?
    }
    let error: Body
}

private struct TokenFailure: Decodable {
    let error: String
    let errorDescription: String
}

/// The answer of the token endpoint as a client decodes it. It is separate from the simulator's own types, so that a
/// renamed field is detected.
struct Tokens: Decodable {
    let accessToken: String
    let tokenType: String
    let scope: String
    let expiresIn: Int
    let refreshToken: String?
}

struct Listing<Item: Decodable>: Decodable {
    let items: [Item]
    let limit: Int
    let next: String?
    let previous: String?
    let total: Int
}

struct ListedPlaylist: Decodable {
    struct Items: Decodable {
        let href: String
        let total: Int
    }
    let id: String
    let name: String
    let items: Items
}

struct ListedItem: Decodable {
    struct Track: Decodable {
        let id: String
        let name: String
        let uri: String
        let durationMs: Int
    }
    let item: Track
}

struct ListedDevices: Decodable {
    struct Speaker: Decodable, Equatable {
        let id: String
        let isActive: Bool
    }
    let devices: [Speaker]

    var active: [String] { devices.filter(\.isActive).map(\.id) }
}

struct Control: Decodable {
    struct Playback: Decodable {
        let deviceId: String
        let isPlaying: Bool
        let context: String?
        let tracks: [String]
    }
    struct TokenCounts: Decodable {
        let issued: Int
        let refreshes: Int
    }
    let account: String
    let premium: Bool
    let playback: Playback?
    let tokens: TokenCounts
    let requests: [String: Int]
}
