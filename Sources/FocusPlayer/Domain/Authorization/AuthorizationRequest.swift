package import EventBus
package import Foundation
internal import Sodium
package import Support

/// The values that belong to one request for consent.
package struct AuthorizationRequest: Hashable, Sendable {
    /// A random value that the server returns with the answer. It proves that the answer belongs to this request (RFC
    /// 6749 §10.12).
    package let state: String
    /// The challenge of the code verifier, with the method `S256`.
    package let codeChallenge: String
    /// The address that receives the answer: a loopback URI of the listening process.
    package let redirectURI: String

    package init(state: String, codeChallenge: String, redirectURI: String) {
        self.state = state
        self.codeChallenge = codeChallenge
        self.redirectURI = redirectURI
    }
}

/// A request for consent that is not finished yet, with all data that another process needs to finish it.
package struct PendingAuthorization: Codable, Hashable, Sendable {
    package let state: String
    package let verifier: CodeVerifier
    package let redirectURI: String
    /// The command that started the request. Its subject is the session whose account is to be connected.
    package let cause: Attributes
    /// The time of the request. Nil if an earlier version stored the request; the time of `cause` is used instead.
    private let requestedAt: Date?
    /// The generation of the tokens of this consent in the ``TokenStore``. Nil until the code has been exchanged.
    ///
    /// This number is stored just before the tokens.
    var grantGeneration: Int?

    package init(state: String, verifier: CodeVerifier, redirectURI: String, cause: Attributes, requestedAt: Date) {
        self.state = state
        self.verifier = verifier
        self.redirectURI = redirectURI
        self.cause = cause
        self.requestedAt = requestedAt
    }

    /// The time for which a person can answer a request: one hour.
    private static let lifetime: TimeInterval = 3600

    package var session: String { cause.subject }

    /// True if the request still waits for an answer, or for the announcement of its outcome. A request whose tokens
    /// are stored does not expire before its outcome has been announced.
    func isOpen(at now: Date) -> Bool {
        // A request from the future was made before the clock was set back.
        grantGeneration != nil || abs(now.timeIntervalSince(requestedAt ?? cause.time)) < Self.lifetime
    }

    var request: AuthorizationRequest {
        AuthorizationRequest(state: state, codeChallenge: verifier.challenge, redirectURI: redirectURI)
    }

    /// True if this request has the state. Compares in constant time.
    func hasState(_ state: String) -> Bool {
        ConstantTime.areEqual(Data(self.state.utf8), Data(state.utf8))
    }
}

extension PendingAuthorization: CustomStringConvertible, CustomReflectable {
    package var description: String { "PendingAuthorization(redacted, cause \(cause.id))" }
    package var customMirror: Mirror { Mirror(self, children: ["cause": cause.id]) }
}

/// A renewal of a session's access token that is not finished yet.
package struct PendingRenewal: Codable, Hashable, Sendable {
    /// The generation of the refused token.
    @BoundedCount package private(set) var generation: Int
    /// The command that requested the renewal. Its subject is the session.
    package let cause: Attributes

    package init(generation: Int, cause: Attributes) {
        self.generation = generation
        self.cause = cause
    }

    package var session: String { cause.subject }
}

/// Stores requests for consent, and renewals.
package protocol PendingAuthorizationStore: Sendable {
    /// Returns the stored requests of all sessions, oldest first.
    func pending() async throws -> [PendingAuthorization]

    /// Changes the stored requests in one step: no other change happens between reading and writing them. Returns after
    /// they are safe from a crash.
    /// - Throws: `TokenStoreError`, also if there are too many requests. The stored requests are then unchanged.
    @discardableResult
    func changePending<Result: Sendable>(
        _ change: @escaping @Sendable (inout [PendingAuthorization]) -> Result
    ) async throws -> Result

    /// Returns the stored renewals, at most one of each session.
    func renewals() async throws -> [PendingRenewal]

    /// Stores a renewal in place of the session's earlier one. Returns after it is safe from a crash.
    /// - Throws: `TokenStoreError`.
    func begin(_ renewal: PendingRenewal) async throws

    /// Removes a renewal. No effect if a later one has replaced it.
    func end(_ renewal: PendingRenewal) async throws
}

/// The browser's request to the redirect URI (RFC 6749 §4.1.2). Its description does not contain the code.
package struct AuthorizationCallback: Hashable, Sendable {
    package enum Answer: Hashable, Sendable {
        case approved(code: String)
        /// The error code of the server: `access_denied` if the person refused.
        case denied(error: String)
    }

    package let answer: Answer
    package let state: String

    package init(answer: Answer, state: String) {
        self.answer = answer
        self.state = state
    }

    /// Reads the query of a request target such as `/callback?code=…&state=…`. Nil if the query has no state, or has
    /// neither a code nor an error.
    package init?(target: String) {
        let items = URLComponents(string: target)?.queryItems ?? []
        func value(_ name: String) -> String? {
            items.first { $0.name == name }?.value.flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let state = value("state") else { return nil }
        if let error = value("error") {
            self.init(answer: .denied(error: error), state: state)
        } else if let code = value("code") {
            self.init(answer: .approved(code: code), state: state)
        } else {
            return nil
        }
    }
}

extension AuthorizationCallback: CustomStringConvertible, CustomReflectable {
    package var description: String { "AuthorizationCallback(redacted)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
