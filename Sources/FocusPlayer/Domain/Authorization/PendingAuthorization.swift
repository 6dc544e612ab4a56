package import EventBus
internal import Foundation
internal import Sodium

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
    package var grantGeneration: Int?

    package init(state: String, verifier: CodeVerifier, redirectURI: String, cause: Attributes) {
        self.state = state
        self.verifier = verifier
        self.redirectURI = redirectURI
        self.cause = cause
    }
}

extension PendingAuthorization: CustomStringConvertible, CustomReflectable {
    package var description: String { "PendingAuthorization(redacted, cause \(cause.id))" }
    package var customMirror: Mirror { Mirror(self, children: ["cause": cause.id]) }
}

extension PendingAuthorization {
    var request: AuthorizationRequest {
        AuthorizationRequest(state: state, codeChallenge: verifier.challenge, redirectURI: redirectURI)
    }

    /// Compares in constant time: every process of this machine can send guesses to the callback.
    func hasState(_ state: String) -> Bool {
        ConstantTime.areEqual(Data(self.state.utf8), Data(state.utf8))
    }
}
