import Authorization

/// Answers as told, and remembers what it was asked.
actor ScriptedServer: AuthorizationServer {
    private(set) var exchanges: [(code: String, verifier: CodeVerifier, redirectURI: String)] = []
    private(set) var refreshes: [String] = []
    private var answer: Result<TokenGrant, AuthorizationFailure>
    private let gate: Gate?

    /// - Parameter gate: what each answer waits for.
    init(_ answer: Result<TokenGrant, AuthorizationFailure> = .success(.fixture()), gate: Gate? = nil) {
        self.answer = answer
        self.gate = gate
    }

    func answer(_ answer: Result<TokenGrant, AuthorizationFailure>) {
        self.answer = answer
    }

    nonisolated func authorizationURL(for request: AuthorizationRequest) -> String {
        "https://accounts.example/\(request.state)/\(request.codeChallenge)"
    }

    func exchange(code: String, verifier: CodeVerifier, redirectURI: String) async throws -> TokenGrant {
        exchanges.append((code, verifier, redirectURI))
        await gate?.pass()
        return try answer.get()
    }

    func refresh(_ refreshToken: String) async throws -> TokenGrant {
        refreshes.append(refreshToken)
        await gate?.pass()
        return try answer.get()
    }
}
