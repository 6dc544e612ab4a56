package import EventBus
internal import Foundation
internal import Sodium

/// What makes one request for consent different from the next.
package struct AuthorizationRequest: Hashable, Sendable {
    /// Comes back with the answer, and proves that the answer belongs to this request (RFC 6749 §10.12).
    package let state: String
    /// Of the verifier, method `S256`.
    package let codeChallenge: String
    /// Where the answer is sent: a loopback URI of the listening process.
    package let redirectURI: String

    package init(state: String, codeChallenge: String, redirectURI: String) {
        self.state = state
        self.codeChallenge = codeChallenge
        self.redirectURI = redirectURI
    }
}

/// A request for consent that a person has not answered yet, with all that is needed to finish it in another process.
package struct PendingAuthorization: Codable, Hashable, Sendable {
    package let state: String
    package let verifier: CodeVerifier
    package let redirectURI: String
    /// The command that began it: what comes of it belongs to the same session, device and correlation.
    package let cause: Attributes
    /// The generation that the tokens of this consent are kept under; nil until the code has been traded.
    ///
    /// Written just before the tokens are. After a crash the vault's generation tells whether they were kept, so that
    /// the success is announced even if the process died between keeping and announcing.
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

    /// Compares in constant time: every process of this machine can send guesses to the callback.
    func hasState(_ state: String) -> Bool {
        ConstantTime.areEqual(Data(self.state.utf8), Data(state.utf8))
    }
}

extension PendingAuthorization: CustomStringConvertible, CustomReflectable {
    package var description: String { "PendingAuthorization(redacted, cause \(cause.id))" }
    package var customMirror: Mirror { Mirror(self, children: ["cause": cause.id]) }
}

/// Keeps the requests for consent, so that a process that dies in the middle of one costs nothing.
package protocol PendingAuthorizationStore: Sendable {
    /// Those not answered yet, oldest first.
    func pending() async throws -> [PendingAuthorization]

    /// Keeps exactly these. Returns only when they survive a crash.
    func replacePending(with authorizations: [PendingAuthorization]) async throws
}

/// What the browser brings back to the redirect URI (RFC 6749 §4.1.2). Its description never shows the code.
package struct AuthorizationCallback: Hashable, Sendable {
    package enum Answer: Hashable, Sendable {
        case approved(code: String)
        /// The error code of the server: `access_denied` when the person said no.
        case denied(error: String)
    }

    package let answer: Answer
    package let state: String

    package init(answer: Answer, state: String) {
        self.answer = answer
        self.state = state
    }

    /// Reads the query of a request target such as `/callback?code=…&state=…`; nil if it is no answer to a request for
    /// consent: without a state, or with neither a code nor an error.
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
