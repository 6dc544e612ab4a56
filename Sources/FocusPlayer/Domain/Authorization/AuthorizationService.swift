internal import Contracts
package import EventBus
package import Foundation
internal import Vocabulary

/// Connects the app with a Spotify account, and keeps it connected.
///
/// Each operation returns what is to be published, and is safe to repeat: a process that dies after an operation and
/// before its messages are journalled calls it again. Operations take turns, in order of arrival, so that a refresh, a
/// log-out and the browser's answer never work on tokens that another of them is replacing.
package actor AuthorizationService {
    let server: any AuthorizationServer
    let store: any TokenStore
    let attempts: any PendingAuthorizationStore
    let now: @Sendable () -> Date
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - store: nobody else may write to it.
    ///   - now: the clock that tokens expire by.
    package init(
        server: any AuthorizationServer, store: any TokenStore, attempts: any PendingAuthorizationStore,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.server = server
        self.store = store
        self.attempts = attempts
        self.now = now
    }

    /// A device is attached: tells whether an account is connected.
    ///
    /// The access token may have expired since; the first call that Spotify refuses asks for the next one.
    package func launched() async throws -> [any Message] {
        try await inTurn(whenUnreadable: [DomainEvent.SpotifyAuthorizationUpdated(status: .unauthorized)]) {
            let isConnected = try await store.load().tokens != nil
            return [DomainEvent.SpotifyAuthorizationUpdated(status: isConnected ? .authorized : .unauthorized)]
        }
    }

    /// Forgets the account, and the session's unanswered request for consent.
    package func deauthorize(causedBy cause: Attributes) async throws -> [any Message] {
        try await inTurn {
            if try await store.load().tokens != nil {
                try await store.clear()
            }
            let others = try await attempts.pending().filter { $0.cause.subject != cause.subject }
            try await attempts.replacePending(with: others)
            return [DomainEvent.SpotifyAuthorizationUpdated(status: .deauthorized)]
        }
    }

    /// Lets one operation at a time through. What the stores cannot do becomes an ``ApplicationError``.
    func inTurn(
        whenUnreadable fallback: [any Message] = [], _ operation: () async throws -> [any Message]
    ) async throws -> [any Message] {
        try await exclusively {
            do {
                return try await operation()
            } catch let error as TokenStoreError {
                return [error.applicationError] + fallback
            }
        }
    }

    /// An actor alone would let a second operation in at the first one's `await`.
    ///
    /// Those who wait are not cancelled in the queue: each turn is bounded by the deadline of the server's HTTP calls.
    func exclusively<Result: Sendable>(_ operation: () async throws -> Result) async throws -> Result {
        if isBusy {
            await withCheckedContinuation { waiting.append($0) }
        }
        isBusy = true
        defer {
            if waiting.isEmpty {
                isBusy = false
            } else {
                // The turn is handed over while `isBusy` stays set: nobody slips in between.
                waiting.removeFirst().resume()
            }
        }
        try Task.checkCancellation()
        return try await operation()
    }
}

extension TokenStoreError {
    var applicationError: ApplicationError {
        ApplicationError(code: code, message: message, recovery: recovery)
    }
}
