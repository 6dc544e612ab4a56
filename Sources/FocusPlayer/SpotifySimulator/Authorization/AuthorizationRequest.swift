/// What a client asks of `/authorize`, checked as far as that is possible without asking the user.
struct AuthorizationRequest: Sendable {
    let client: Client
    let redirectURI: RedirectURI
    let challenge: String
    let scopes: Set<Scope>
    let state: String?

    /// The parameters as they came, which the consent form sends back.
    let parameters: [String: String]

    /// - Parameters:
    ///   - parameters: The decoded query of the request, or the fields of the consent form.
    ///   - clients: The registered applications.
    /// - Throws: `AuthorizationRequestError`, for the person at the browser. Nothing is ever sent to a redirect URI
    ///   that has not been checked (RFC 6749 §4.1.2.1).
    init(_ parameters: [String: String], clients: [Client]) throws(AuthorizationRequestError) {
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

    /// Where the browser goes when the user has approved or denied.
    func redirect(_ answer: (name: String, value: String)) -> String {
        redirectURI.appending([answer] + (state.map { [("state", $0)] } ?? []))
    }

    private static let names: Set = [
        "client_id", "redirect_uri", "response_type", "code_challenge_method", "code_challenge", "scope", "state",
    ]
}
