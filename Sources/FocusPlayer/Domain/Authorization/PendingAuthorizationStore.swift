/// Keeps the requests for consent, so that a process that dies in the middle of one costs nothing.
package protocol PendingAuthorizationStore: Sendable {
    /// Those not answered yet, oldest first.
    func pending() async throws -> [PendingAuthorization]

    /// Keeps exactly these. Returns only when they survive a crash.
    func replacePending(with authorizations: [PendingAuthorization]) async throws
}
