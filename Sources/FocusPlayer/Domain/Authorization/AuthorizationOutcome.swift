package import Contracts
package import EventBus
internal import Foundation
internal import Sodium

/// The outcome of a consent or a renewal. The caller publishes its messages and then acknowledges the outcome.
package struct AuthorizationOutcome: Sendable {
    enum Ended: Sendable {
        case request(PendingAuthorization)
        case renewal(PendingRenewal)
    }

    /// The request or renewal that has ended. Nil if it is still open or unknown.
    let ended: Ended?
    /// The command that started the request or renewal. Nil if the answer does not belong to an open request.
    package let cause: Attributes?
    /// Empty if nothing is to be published.
    package let messages: [any Message]
    /// The error to show in the browser. Nil if there is none.
    package let failure: ApplicationError?

    init(ending attempt: PendingAuthorization, _ messages: [any Message]) {
        self.init(.request(attempt), cause: attempt.cause, messages)
    }

    init(ending renewal: PendingRenewal, _ messages: [any Message]) {
        self.init(.renewal(renewal), cause: renewal.cause, messages)
    }

    /// The outcome of an answer whose request stays open.
    init(continuing error: ApplicationError, cause: Attributes?) {
        self.init(nil, cause: cause, [error])
    }

    /// The outcome of an answer that has been handled before. Nothing is published again.
    init(repeating failure: ApplicationError?) {
        ended = nil
        cause = nil
        messages = []
        self.failure = failure
    }

    /// The outcome of an answer that belongs to no open request. Only the browser that sent it shows the error.
    static var ofUnknownState: AuthorizationOutcome { AuthorizationOutcome(repeating: .unknownState) }

    private init(_ ended: Ended?, cause: Attributes?, _ messages: [any Message]) {
        self.ended = ended
        self.cause = cause
        self.messages = messages
        failure = messages.lazy.compactMap { $0 as? ApplicationError }.first
    }
}

/// The browser's answers that are being handled, and the last ones that ended a request.
struct ConsentAnswers {
    /// The outcome of an answer that ended its request.
    struct Settled {
        fileprivate let state: Data
        let session: String
        let failure: ApplicationError?
    }

    typealias Waiter = CheckedContinuation<AuthorizationOutcome, any Error>

    /// The maximum number of settled answers. Further ones replace the oldest ones.
    private static let maximum = 500

    private var settled: [Settled] = []
    /// By state: the repeated answers that wait for the outcome of the first one.
    private var waiting: [String: [Waiter]] = [:]

    func settled(_ state: String) -> Settled? {
        settled.last { ConstantTime.areEqual($0.state, Data(state.utf8)) }
    }

    func isUnderWay(_ state: String) -> Bool { waiting[state] != nil }

    mutating func begin(_ state: String) {
        waiting[state] = []
    }

    mutating func wait(for state: String, _ waiter: Waiter) {
        waiting[state, default: []].append(waiter)
    }

    /// Ends an answer, and resumes those that wait for it.
    mutating func end(_ state: String, _ result: Result<AuthorizationOutcome, any Error>) {
        if case .success(let outcome) = result, case .request(let attempt) = outcome.ended {
            if settled.count == Self.maximum { settled.removeFirst() }
            settled.append(Settled(state: Data(state.utf8), session: attempt.session, failure: outcome.failure))
        }
        for waiter in waiting.removeValue(forKey: state) ?? [] { waiter.resume(with: result) }
    }
}
