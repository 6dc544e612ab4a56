import Foundation

extension AuthorizationState {
    /// Which tokens the control page takes away.
    enum Revocation: String, CaseIterable, Sendable {
        /// Clients must refresh.
        case access
        /// Clients must refresh, and will be refused.
        case all
    }

    /// Finds what the `Authorization` header of a Web API request permits.
    ///
    /// - Parameter header: The header's value, if the request has one.
    /// - Returns: The scopes of the token.
    func scopes(authorization header: String?, at now: Date) throws(WebAPIError) -> Set<Scope> {
        guard let header else { throw .noToken }
        let parts = header.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .notBearer }
        guard let token = accessTokens[Secret(String(parts[1])).digest] else { throw .invalidAccessToken }
        guard now < token.expiresAt else { throw .expiredAccessToken }
        return token.scopes
    }

    /// Takes tokens away from every client, as the user can on Spotify's account page.
    mutating func revoke(_ revocation: Revocation) {
        accessTokens = [:]
        guard revocation == .all else { return }
        for digest in refreshTokens.keys { refreshTokens[digest]?.isRevoked = true }
    }
}
