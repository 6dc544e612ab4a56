import Authorization
import Consuming
import Contracts
import EventBus
import Foundation
import Services
import Support
import Synchronization
import TestSupport
import Testing
import TokenVault
import Vocabulary

@Suite("auth-service during slow token requests", .timeLimit(.minutes(2)))
struct SlowRenewalTests {
    @Test("The launches of many sessions are answered while each waits for a token")
    func manySessions() async throws {
        try await withVault(sessions: 20) { hub, vault, device in
            let server = HeldServer()
            try await withAuthService(on: hub, vault, server) {
                for number in 0..<20 {
                    try await device.send(
                        Command.SpotifyTokenRefreshRequested(generation: 1), subject: "session-\(number)")
                }
                try await server.waitUntilRefreshes(20)
                for number in 0..<20 {
                    let launch = try Envelope(
                        DomainEvent.LaunchFinished(), source: device.source, subject: "session-\(number)")
                    try await device.publish(Batch([launch]))
                    #expect(try await device.status(after: launch) == .authorized)
                }
                server.release()
                for number in 0..<20 { try await vault.waitUntilRenewed(of: "session-\(number)") }
            }
        }
    }

    @Test("A renewal during which auth-service is killed is repeated once by the next process")
    func killed() async throws {
        try await withVault(sessions: 1) { hub, vault, device in
            let held = HeldServer()
            try await withAuthService(on: hub, vault, held) {
                try await device.send(Command.SpotifyTokenRefreshRequested(generation: 1), subject: "session-0")
                try await held.waitUntilRefreshes(1)
            }
            #expect(try await vault.load(of: "session-0").generation == 1)
            let server = HeldServer()
            server.release()
            try await withAuthService(on: hub, vault, server) {
                try await vault.waitUntilRenewed(of: "session-0")
            }
            #expect(try await vault.load(of: "session-0").generation == 2)
            try await server.waitUntilRefreshes(1)
        }
    }

    private func withVault(
        sessions: Int, _ body: (InMemoryHub, TokenVault, EventBus) async throws -> Void
    ) async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let vault = try await TokenVault.open(directory: scratch.path("vault"))
        for number in 0..<sessions {
            try await vault.save(
                SpotifyTokens(accessToken: "a", refreshToken: "r", scope: "", expiresAt: Date()),
                of: "session-\(number)")
        }
        let hub = InMemoryHub(maximumGap: 1000)
        try await body(hub, vault, EventBus.inMemory(source: "device/test", hub: hub))
    }

    private func withAuthService(
        on hub: InMemoryHub, _ vault: TokenVault, _ server: HeldServer,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let bus = EventBus.inMemory(source: "auth-service/\(UUID().uuidString)", hub: hub)
        let service = AuthorizationService(server: server, store: vault, attempts: vault)
        try await withRunning(AuthorizationHost(service: service, bus: bus, logger: .silent), body)
    }
}

/// A server that answers no refresh before it is released.
private final class HeldServer: AuthorizationServer {
    private let arrivals = Counter()
    private let state = Mutex<(isReleased: Bool, held: [Latch])>((false, []))

    /// Waits until this number of refreshes has been requested.
    func waitUntilRefreshes(_ count: Int) async throws {
        try await arrivals.waitUntil(count)
    }

    func release() {
        state.withLock { state in
            state.isReleased = true
            state.held.forEach { $0.open() }
        }
    }

    func authorizationURL(for request: AuthorizationRequest) -> String { "" }

    func exchange(code: String, verifier: CodeVerifier, redirectURI: String) async throws -> TokenGrant {
        throw AuthorizationFailure.unavailable("this server gives no tokens for codes")
    }

    func refresh(_ refreshToken: String) async throws -> TokenGrant {
        arrivals.increment()
        let answer = Latch()
        state.withLock { state in
            state.held.append(answer)
            if state.isReleased { answer.open() }
        }
        try await answer.waitUntilOpen()
        return TokenGrant(accessToken: "b", refreshToken: nil, scope: nil, lifetime: .seconds(60))
    }
}

extension TokenVault {
    /// Waits until the session's tokens have the second generation.
    fileprivate func waitUntilRenewed(of session: String) async throws {
        while try await load(of: session).generation < 2 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
