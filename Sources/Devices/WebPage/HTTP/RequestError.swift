internal import EventBus
internal import HTTPOperations
package import HTTPTypes
internal import Hummingbird
internal import Support

/// A request that cannot be answered. The body of the answer is `{"error":{"code":"…","message":"…"}}`.
package struct RequestError: Error, Sendable, Equatable {
    package let status: HTTPResponse.Status
    /// A stable identifier for programs.
    package let code: String
    /// One line for a person.
    package let message: String

    package init(status: HTTPResponse.Status, code: String, message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    var response: Response {
        .json(.object(["error": ["code": .string(code), "message": .string(message)]]), status: status)
    }

    package static func malformed(_ message: String) -> Self {
        Self(status: .badRequest, code: "malformed", message: message)
    }
    package static func notFound(_ message: String) -> Self {
        Self(status: .notFound, code: "unknown", message: message)
    }
    package static func conflict(_ message: String) -> Self {
        Self(status: .conflict, code: "conflict", message: message)
    }
    static func forbidden(_ code: String, _ message: String) -> Self {
        Self(status: .forbidden, code: code, message: message)
    }
    package static func busy(_ message: String) -> Self {
        Self(status: .tooManyRequests, code: "busy", message: message)
    }

    /// The refusal of a request of another site.
    init(_ foreign: ForeignRequest) {
        let advice = foreign.code == "host" ? "; use --allow-host to allow another name" : ""
        self = .forbidden(foreign.code, foreign.message + advice)
    }

    static func tooLarge(limit: Int) -> Self {
        Self(
            status: .contentTooLarge, code: "too-large", message: "the body is larger than \(limit >> 10) KiB")
    }
    static let signedOut = Self(
        status: .unauthorized, code: "signed-out", message: "this browser is not signed in; run 'segue open'")
    /// - Parameter session: The session that the browser has signed in to.
    static func notOperator(_ session: String) -> Self {
        .forbidden(
            "not-operator",
            "this browser is signed in to the session '\(session.shortened(to: 100).printable)'; sign in as an operator with 'segue open'"
        )
    }
    package static let readOnly = Self.forbidden("read-only", "this gateway was started with --read-only")
    package static let busAway = Self(
        status: .badGateway, code: "bus-unavailable", message: "the bus does not answer; try again in a moment")
}
