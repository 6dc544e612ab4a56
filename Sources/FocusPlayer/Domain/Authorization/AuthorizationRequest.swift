package import EventBus
internal import Foundation
internal import Sodium

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
    /// The command that started the request.
    package let cause: Attributes
    /// The generation of the tokens of this consent in the ``TokenStore``. Nil until the code has been exchanged.
    ///
    /// This number is stored just before the tokens.
    var grantGeneration: Int?

    package init(state: String, verifier: CodeVerifier, redirectURI: String, cause: Attributes) {
        self.state = state
        self.verifier = verifier
        self.redirectURI = redirectURI
        self.cause = cause
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

/// Stores requests for consent.
package protocol PendingAuthorizationStore: Sendable {
    /// Returns the stored requests, oldest first.
    func pending() async throws -> [PendingAuthorization]

    /// Replaces all stored requests. Returns after they are safe from a crash.
    func replacePending(with authorizations: [PendingAuthorization]) async throws
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
