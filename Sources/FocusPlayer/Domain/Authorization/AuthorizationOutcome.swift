package import Contracts
package import EventBus
internal import Foundation

/// What came of a consent, to be published and then acknowledged.
package struct AuthorizationOutcome: Sendable {
    /// The state of the attempt that ended; nil if it goes on, or none was meant.
    let ended: String?
    /// The command that began it; nil if the answer belongs to no attempt that is known.
    package let cause: Attributes?
    package let messages: [any Message]

    init(ending attempt: PendingAuthorization, _ messages: [any Message]) {
        ended = attempt.state
        cause = attempt.cause
        self.messages = messages
    }

    init(continuing attempt: PendingAuthorization?, _ error: ApplicationError) {
        ended = nil
        cause = attempt?.cause
        messages = [error]
    }

    /// What to tell the person in the browser; nil if all went well.
    package var failure: ApplicationError? {
        messages.lazy.compactMap { $0 as? ApplicationError }.first
    }

    /// An envelope that ``messages`` can be caused by, so that they inherit session, correlation and origin.
    package var causeEnvelope: Envelope? {
        cause.map { Envelope(attributes: $0, data: Data()) }
    }
}
