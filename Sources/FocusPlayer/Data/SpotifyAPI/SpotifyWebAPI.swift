internal import Foundation
package import HTTPClient
internal import HTTPTypes
package import Music

/// api.spotify.com, for one account.
///
/// A refused token is replaced and the request sent again, once: Spotify has not acted upon what it refused.
package struct SpotifyWebAPI: Sendable {
    let host: BaseURL
    private let tokens: any AccessTokens
    private let transport: SpotifyTransport

    package init(
        tokens: any AccessTokens, client: HTTPClient, hosts: SpotifyHosts = SpotifyHosts(),
        policy: RateLimitPolicy = RateLimitPolicy()
    ) {
        host = hosts.api
        self.tokens = tokens
        transport = SpotifyTransport(client: client, policy: policy)
    }

    /// - Parameter what: what the request is about, for the error if Spotify does not know it.
    func get<Value: Decodable>(
        _ url: String, as type: Value.Type = Value.self, about what: String
    ) async throws -> Value {
        let reply = try await send(HTTPClient.Request(.get, url), about: what)
        guard let value = reply.decode(type) else {
            throw MusicError.unavailable("the answer cannot be read")
        }
        return value
    }

    func put(_ pathAndQuery: String, _ body: some Encodable, about what: String) async throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let request = HTTPClient.Request(
            .put, host.url(pathAndQuery), headers: [.contentType: "application/json"], body: try encoder.encode(body))
        _ = try await send(request, about: what)
    }

    private func send(_ request: HTTPClient.Request, about what: String) async throws -> SpotifyReply {
        let first = try await tokens.current()
        let reply = try await transport.send(request, with: first)
        guard reply.status == .unauthorized else { return try checked(reply, first, what) }
        let second = try await tokens.newer(thanRefused: first.generation)
        return try checked(try await transport.send(request, with: second), second, what)
    }

    private func checked(_ reply: SpotifyReply, _ token: AccessToken, _ what: String) throws -> SpotifyReply {
        guard reply.isSuccess else { throw MusicError(reply, generation: token.generation, about: what) }
        return reply
    }
}

extension SpotifyTransport {
    fileprivate func send(_ request: HTTPClient.Request, with token: AccessToken) async throws -> SpotifyReply {
        var request = request
        request.headers[.authorization] = "Bearer \(token.value)"
        do {
            return try await send(request)
        } catch let failure as HTTPClient.Failure {
            throw MusicError.unavailable(failure.description)
        }
    }
}
