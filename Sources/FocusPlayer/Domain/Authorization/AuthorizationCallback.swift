internal import Foundation

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
