import Foundation
import HTTPClient
import HTTPTypes

/// A client as one would write it from Spotify's documentation.
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

    /// The code that consent gives.
    func code(scopes: String = Self.scopes) async throws -> String {
        try await decide("approve", ["scope": scopes]).redirectQuery["code"] ?? ""
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

    /// Consent and trade.
    func signIn(scopes: String = Self.scopes) async throws -> Tokens {
        try await trade(try await code(scopes: scopes)).decoded()
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

    /// - Parameter path: may have a query.
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
